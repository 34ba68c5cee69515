package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowFile;
import dev.coatcheck.bulk.rows.RowText;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The lines of a file that are imported in one transaction. */
final class Chunk {
  /** As many keys as one draw gives. Such a chunk takes Postgres about a tenth of a second. */
  static final int LINES_MAX = KeyGenerator.COUNT_MAX;

  /** Rows between two calls of {@link Thread#yield()}: about half a millisecond. */
  private static final int ROWS_A_TURN = 256;

  private final List<ImportRow> rows = new ArrayList<>();
  private final List<RowError> errors = new ArrayList<>();
  private final Map<Integer, Key> drawn = new HashMap<>();
  private long lastLine;

  private Chunk() {}

  /**
   * The next rows of a file; none if there are no more.
   *
   * @throws IOException if the stream broke off: these rows are not to be used
   */
  @SuppressWarnings("ThreadPriorityCheck") // a virtual thread is never made to wait by others
  static Chunk read(RowFile file, RowParser parser) throws IOException {
    Chunk chunk = new Chunk();
    parser.beginChunk();
    RowText text = new RowText();
    while (chunk.size() < LINES_MAX && file.next()) {
      chunk.lastLine = file.line();
      RowFault fault = file.read(text);
      if (fault != null) {
        chunk.errors.add(new RowError(file.line(), fault));
      } else {
        switch (parser.parse(file.line(), text)) {
          case RowParser.Parsed.Sound(ImportRow row) -> chunk.rows.add(row);
          case RowParser.Parsed.Refused(RowFault refused) ->
              chunk.errors.add(new RowError(file.line(), refused));
        }
      }
      if (chunk.size() % ROWS_A_TURN == 0) {
        Thread.yield();
      }
    }
    return chunk;
  }

  List<ImportRow> rows() {
    return rows;
  }

  List<MintRequest> requests() {
    return rows.stream().map(ImportRow::request).toList();
  }

  /** Those that were refused when they were read. */
  List<RowError> errors() {
    return errors;
  }

  long lastLine() {
    return lastLine;
  }

  int size() {
    return rows.size() + errors.size();
  }

  /**
   * Takes the types as they are now: one may have been retired or sealed while the file was read.
   *
   * @return whether rows were refused, because their types are sealed now
   */
  boolean renewTypes(Registry registry) {
    Map<Integer, Type> current = new HashMap<>(); // each may have to be asked for
    rows.replaceAll(
        row -> {
          Type read = row.request().type();
          return row.of(
              current.computeIfAbsent(read.number(), _ -> registry.currentForWrite(read)));
        });
    boolean isRefused = rows.removeIf(this::refusesSealed);
    if (isRefused) {
      dropKeys(); // they belong to rows by their numbers
    }
    return isRefused;
  }

  private boolean refusesSealed(ImportRow row) {
    boolean isSealed = RowParser.isSealed(row.request().type(), row.request().key());
    if (isSealed) {
      errors.add(new RowError(row.line(), RowFault.KEY_SEALED));
    }
    return isSealed;
  }

  /** Whether rows are of retired types, so that they must not be new. */
  boolean hasRetiredTypes() {
    return rows.stream().anyMatch(row -> row.request().type().isRetired());
  }

  /** Whether rows bring public IDs that came from elsewhere. */
  boolean bringsTokens() {
    return rows.stream().anyMatch(row -> row.request().token().isPresent());
  }

  /** The key that was drawn for a row that brings none. */
  Optional<Key> drawn(int row) {
    return Optional.ofNullable(drawn.get(row));
  }

  /**
   * Draws a key for each of the rows without a key, unless it was drawn before: at most {@link
   * #LINES_MAX}, which one draw gives. The keys of rows that say when they were created carry that
   * time, where the type has a source of such keys.
   *
   * @throws KeysUnavailable if there are no keys now
   */
  void drawKeys(Collection<Integer> wanted, Importer.MintingTools tools) {
    Map<Type, List<Integer>> dated = new HashMap<>();
    Map<Type, List<Integer>> undated = new HashMap<>();
    for (int i : wanted) {
      MintRequest request = rows.get(i).request();
      if (request.key().isEmpty() && !drawn.containsKey(i)) {
        (rows.get(i).isDated() ? dated : undated)
            .computeIfAbsent(request.type(), _ -> new ArrayList<>())
            .add(i);
      }
    }
    dated.forEach(
        (type, some) ->
            tools
                .datedKeys()
                .apply(type)
                .ifPresentOrElse(
                    source -> give(some, draw(source, type, some)),
                    () -> undated.computeIfAbsent(type, _ -> new ArrayList<>()).addAll(some)));
    undated.forEach(
        (type, some) -> {
          some.sort(Comparator.naturalOrder());
          give(some, tools.keys().apply(type).next(some.size()));
        });
  }

  /** The next try draws other keys: one of these may be taken. */
  void dropKeys() {
    drawn.clear();
  }

  private KeyOutcome draw(DatedKeyGenerator source, Type type, List<Integer> wanted) {
    // A row from before the layout's epoch gets one of its first keys.
    Instant epoch = Instant.ofEpochMilli(type.keyTimes().orElseThrow().epochMillis());
    wanted.sort(Comparator.comparing(row -> rows.get(row).createdAt()));
    return source.at(
        wanted.stream()
            .map(row -> rows.get(row).createdAt())
            .mapToLong(at -> (at.isBefore(epoch) ? epoch : at).toEpochMilli())
            .toArray());
  }

  private void give(List<Integer> wanted, KeyOutcome draw) {
    switch (draw) {
      case KeyOutcome.Drawn(List<Key> keys) -> {
        for (int i = 0; i < keys.size(); i++) {
          drawn.put(wanted.get(i), keys.get(i));
        }
      }
      case KeyOutcome.NoKeys why -> throw new KeysUnavailable(why);
    }
  }
}

package dev.coatcheck.bulk.load;

import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.ErasedAliasTable;
import dev.coatcheck.ids.ending.ErasureTable;
import dev.coatcheck.ids.mint.KnownRows;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintPlan;
import dev.coatcheck.ids.mint.MintPlan.Entry;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.MintTable;
import dev.coatcheck.ids.mint.MintTarget;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Writes the mappings and legacy IDs of keys that were generated elsewhere, for use inside
 * transactions. Existing rows that agree are left alone; those that contradict are never
 * overwritten.
 */
public final class LegacyKeyWriter {
  private final Type type;
  private final TokenSource tokens;
  private final Observer observer;

  public LegacyKeyWriter(Type type, TokenSource tokens, Observer observer) {
    this.type = type;
    this.tokens = tokens;
    this.observer = observer;
  }

  public record LegacyKey(long legacy, long key) {}

  /** A mapping or a legacy ID already exists: roll back, and insert carefully. */
  public static final class AlreadyThere extends RuntimeException {
    AlreadyThere(RuntimeException cause) {
      super("a mapping or a legacy ID is there already", cause);
    }
  }

  /**
   * Inserts mappings and legacy IDs; their time is the one in the key.
   *
   * @param careful look first at what is there; otherwise all is taken for new
   * @return those whose legacy ID or key belongs to something else, or has ended; those that were
   *     erased are left out without a word
   * @throws AlreadyThere if another transaction was first
   */
  public List<LegacyKey> insert(DSLContext sql, List<LegacyKey> rows, boolean careful) {
    return write(
            sql,
            rows.stream().map(LegacyKey::key).toList(),
            row ->
                List.of(Alias.of(type, AliasScheme.LEGACY, Long.toString(rows.get(row).legacy()))),
            careful)
        .stream()
        .map(rows::get)
        .toList();
  }

  /**
   * Inserts mappings of keys whose rows have no legacy ID; a mapping that is there already, or has
   * ended, is left alone.
   *
   * @param careful look first at what is there; otherwise all is taken for new
   * @throws AlreadyThere if another transaction was first
   */
  public void insertKeys(DSLContext sql, List<Long> keys, boolean careful) {
    List<Integer> _ = write(sql, keys, _ -> List.of(), careful);
  }

  /** Those of the legacy IDs whose public IDs were erased. */
  public Set<Long> erased(Database gateway, List<Long> legacyIds) {
    List<Alias> names =
        legacyIds.stream()
            .filter(id -> id > 0)
            .map(id -> Alias.of(type, AliasScheme.LEGACY, Long.toString(id)))
            .toList();
    return gateway.read("erased rows", sql -> ErasedAliasTable.of(sql, names)).stream()
        .map(name -> Long.valueOf(name.value()))
        .collect(Collectors.toSet());
  }

  /** Inserts a row in a transaction of its own. A row that already exists counts as success. */
  public void insertAlone(Database gateway, LegacyKey row) {
    try {
      gateway.write("legacy key", sql -> insert(sql, List.of(row), true));
    } catch (AlreadyThere another) {
      // The row exists.
    }
  }

  private static KnownRows known(DSLContext sql, List<MintRequest> requests) {
    try {
      return MintTable.known(sql, requests);
    } catch (LostRace another) {
      throw new AlreadyThere(another);
    }
  }

  /** Returns the indexes of the keys that are refused. */
  private List<Integer> write(
      DSLContext sql, List<Long> keys, IntFunction<List<Alias>> aliases, boolean careful) {
    List<MintRequest> requests = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      requests.add(
          new MintRequest(type, Optional.of(new Key.Bigint(keys.get(i))), aliases.apply(i)));
    }
    Set<Long> erased = ErasureTable.keysInSources(sql, type, keys);
    MintPlan plan = new MintPlan(careful ? known(sql, requests) : KnownRows.NONE);
    List<Integer> refused = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      if (erased.contains(keys.get(i))) {
        continue;
      }
      Entry entry =
          careful
              ? plan.add(requests.get(i))
              : new Entry.Sound(plan.addUnseen(requests.get(i)), true);
      switch (entry) {
        case Entry.Sound(MintTarget target, boolean isNew) -> {
          if (isNew) {
            target.create(tokens::next, SnowflakeLayout.DEFAULT.timeOf(keys.get(i)));
          }
        }
        case Entry.Refused(MintOutcome.Erased _) -> {}
        case Entry.Refused _, Entry.TokenTaken _ -> refused.add(i);
      }
    }
    try {
      ImportStore.copy(sql, plan, CopyBatch.of(plan));
    } catch (LostRace another) {
      throw new AlreadyThere(another);
    } catch (DataAccessException failed) {
      if (SqlState.isUniqueViolation(failed)) {
        throw new AlreadyThere(failed);
      }
      throw failed;
    }
    observer.observe(new Event.Minted(type.name(), plan.newTargets().size(), 0));
    return refused;
  }
}

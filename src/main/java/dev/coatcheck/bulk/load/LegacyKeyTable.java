package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.stream.IntStream;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Gives keys that were made elsewhere their mapping and their legacy ID, for use inside
 * transactions. What is there already and agrees is left alone; what contradicts is never
 * overwritten.
 */
public final class LegacyKeyTable {
  private final Type type;
  private final TokenSource tokens;
  private final Observer observer;

  /** For one type of Snowflake keys. */
  public LegacyKeyTable(Type type, TokenSource tokens, Observer observer) {
    this.type = type;
    this.tokens = tokens;
    this.observer = observer;
  }

  /** A legacy ID and its new key. */
  public record LegacyKey(long legacy, long key) {}

  /** A mapping or a legacy ID is there already: roll back, and insert carefully. */
  public static final class AlreadyThere extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AlreadyThere(DataAccessException cause) {
      super("a mapping or a legacy ID is there already", cause);
    }
  }

  /**
   * Inserts mappings and legacy IDs; their time is the one in the key.
   *
   * @param careful look first at what is there; otherwise all is taken for new
   * @return those whose legacy ID or key belongs to something else, or has ended
   * @throws AlreadyThere if another transaction was first
   */
  public List<LegacyKey> insert(DSLContext sql, List<LegacyKey> rows, boolean careful) {
    List<ImportRow> imports =
        IntStream.range(0, rows.size()).mapToObj(i -> row(i, rows.get(i))).toList();
    return write(sql, imports, careful).stream()
        .map(error -> rows.get((int) error.line()))
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
    List<ImportRow> imports =
        IntStream.range(0, keys.size()).mapToObj(i -> row(i, keys.get(i), List.of())).toList();
    List<RowError> _ = write(sql, imports, careful);
  }

  private List<RowError> write(DSLContext sql, List<ImportRow> imports, boolean careful) {
    Plan plan =
        careful
            ? Plan.beside(
                ImportStore.existing(sql, imports), imports, KeySupply.none(), tokens::next)
            : Plan.fresh(imports, KeySupply.none(), tokens::next);
    try {
      ImportStore.copy(sql, CopyBatch.of(plan));
    } catch (DataAccessException refused) {
      if (SqlState.isUniqueViolation(refused)) {
        throw new AlreadyThere(refused);
      }
      throw refused;
    }
    observer.observe(new Event.Minted(type.name(), plan.mappings().size(), 0));
    return plan.errors();
  }

  /** Inserts a row in a transaction of its own. A row that already exists counts as success. */
  public void insertAlone(Database gateway, LegacyKey row) {
    try {
      gateway.write("legacy key", sql -> insert(sql, List.of(row), true));
    } catch (AlreadyThere another) {
      // The row exists.
    }
  }

  private ImportRow row(int index, LegacyKey row) {
    Alias legacy = Alias.of(type, AliasScheme.LEGACY, Long.toString(row.legacy()));
    return row(index, row.key(), List.of(legacy));
  }

  private ImportRow row(int index, long key, List<Alias> names) {
    return new ImportRow(
        index, type, new Key.Bigint(key), names, SnowflakeLayout.DEFAULT.timeOf(key), false, null);
  }
}

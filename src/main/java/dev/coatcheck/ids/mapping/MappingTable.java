package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID_UUID;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.RecordMapper;
import org.jooq.Table;
import org.jooq.TableField;

/**
 * The two tables of mappings, alike but for the column type of their key.
 *
 * @param <K> the column type
 */
public record MappingTable<K>(
    Table<?> table,
    TableField<?, K> key,
    TableField<?, Instant> createdAt,
    TableField<?, UUID> token,
    TableField<?, Integer> typeNumber,
    TableField<?, Short> bucket,
    TableField<?, Short> status,
    Function<K, Key> toKey,
    Function<Key, K> fromKey,
    IntFunction<K[]> newArray) {

  private static final MappingTable<Long> BIGINT =
      new MappingTable<>(
          PUBLIC_ID,
          PUBLIC_ID.KEY,
          PUBLIC_ID.CREATED_AT,
          PUBLIC_ID.TOKEN,
          PUBLIC_ID.TYPE_ID,
          PUBLIC_ID.BUCKET,
          PUBLIC_ID.STATUS,
          Key.Bigint::new,
          key -> ((Key.Bigint) key).value(),
          Long[]::new);

  private static final MappingTable<UUID> UUIDS =
      new MappingTable<>(
          PUBLIC_ID_UUID,
          PUBLIC_ID_UUID.KEY,
          PUBLIC_ID_UUID.CREATED_AT,
          PUBLIC_ID_UUID.TOKEN,
          PUBLIC_ID_UUID.TYPE_ID,
          PUBLIC_ID_UUID.BUCKET,
          PUBLIC_ID_UUID.STATUS,
          Key.Uuid::new,
          key -> ((Key.Uuid) key).value(),
          UUID[]::new);

  /** In the order in which they are locked. */
  public static List<MappingTable<?>> all() {
    return List.of(BIGINT, UUIDS);
  }

  public static MappingTable<?> of(KeyScheme scheme) {
    return switch (scheme) {
      case SNOWFLAKE -> BIGINT;
      case UUIDV7 -> UUIDS;
    };
  }

  public static MappingTable<?> of(Key key) {
    return switch (key) {
      case Key.Bigint _ -> BIGINT;
      case Key.Uuid _ -> UUIDS;
    };
  }

  /** With its schema, for the text of a statement. */
  public String qualifiedName() {
    return "coatcheck." + table.getName();
  }

  Condition below(Key bound) {
    return key.lt(fromKey.apply(bound));
  }

  Condition between(Key smallest, Key largest) {
    return key.between(fromKey.apply(smallest), fromKey.apply(largest));
  }

  <T> Field<K[]> keys(List<T> rows, Function<T, Key> of) {
    return Unnest.column(rows, row -> fromKey.apply(of.apply(row)), newArray);
  }

  Field<?>[] columns() {
    return new Field<?>[] {key, createdAt, token, typeNumber, status};
  }

  /** Those, and what was asked for. */
  Field<?>[] columnsAnd(Field<?> asked) {
    return new Field<?>[] {key, createdAt, token, typeNumber, status, asked};
  }

  /** Reads a row of {@link #columns}. */
  RecordMapper<Record, StoredMapping> mapper() {
    return row ->
        new StoredMapping(
            toKey.apply(row.get(key)),
            Token.of(row.get(token)),
            row.get(typeNumber),
            row.get(createdAt),
            Mapping.Status.of(row.get(status)));
  }
}

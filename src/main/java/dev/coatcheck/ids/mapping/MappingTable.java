package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID_UUID;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
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
    Class<K> keyClass,
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
          Long.class,
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
          UUID.class,
          UUID[]::new);

  /** In the order in which they are locked. */
  public static List<MappingTable<?>> all() {
    return List.of(BIGINT, UUIDS);
  }

  public static MappingTable<?> of(KeyKind kind) {
    return switch (kind) {
      case BIGINT -> BIGINT;
      case UUID -> UUIDS;
    };
  }

  public static MappingTable<?> of(Key key) {
    return switch (key) {
      case Key.Bigint _ -> BIGINT;
      case Key.Uuid _ -> UUIDS;
    };
  }

  /** Whether keys of this kind are in this table. */
  public boolean holds(Key some) {
    return of(some).keyClass.equals(keyClass);
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

  /** The keys of rows that it {@linkplain #holds}, as a parameter of a statement. */
  public <T> K[] keys(List<T> rows, Function<T, Key> of) {
    return rows.stream().map(row -> fromKey.apply(of.apply(row))).toArray(newArray);
  }

  Field<?>[] columns() {
    return new Field<?>[] {key, createdAt, token, typeNumber, status};
  }

  /** A statement about this table, which {@code template} calls {@code {table}}. */
  public String statement(String template) {
    return template.replace("{table}", qualifiedName());
  }

  /** Reads {@link #columns}, if they begin the row, and aren't null. */
  Optional<StoredMapping> read(ResultSet row) throws SQLException {
    K found = row.getObject(1, keyClass);
    return found == null
        ? Optional.empty()
        : Optional.of(
            new StoredMapping(
                toKey.apply(found),
                Token.of(row.getObject(3, UUID.class)),
                row.getInt(4),
                PlainSql.instant(row, 2),
                Mapping.Status.of(row.getShort(5))));
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

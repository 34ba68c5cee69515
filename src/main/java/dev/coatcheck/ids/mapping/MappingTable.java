package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The two tables of mappings, alike but for the column type of their key.
 *
 * @param qualifiedName with its schema, for the text of a statement
 * @param unusedKey a key for a row that was erased, which no generator makes: a negative number,
 *     which no caller can send either, or a UUID of version 0 and the reserved variant 0, whose
 *     high half is zero. Random, because a type has each key once in a bucket. Such keys sort
 *     before nearly all others, so lists meet them only at their end
 * @param <K> the column type
 */
public record MappingTable<K>(
    String qualifiedName,
    Function<K, Key> toKey,
    Function<Key, K> fromKey,
    Supplier<K> unusedKey,
    Class<K> keyClass,
    IntFunction<K[]> newArray) {
  /** What {@link #read} reads. */
  static final String COLUMNS = "key, created_at, token, type_id, status";

  private static final MappingTable<Long> BIGINT =
      new MappingTable<>(
          "coatcheck.public_id",
          value -> new Key.Bigint(Math.max(0, value)), // negative in a row that was erased
          key -> ((Key.Bigint) key).value(),
          () -> random() | Long.MIN_VALUE,
          Long.class,
          Long[]::new);

  private static final MappingTable<UUID> UUIDS =
      new MappingTable<>(
          "coatcheck.public_id_uuid",
          Key.Uuid::new,
          key -> ((Key.Uuid) key).value(),
          () -> new UUID(0, random() >>> 1),
          UUID.class,
          UUID[]::new);

  /** Both tables, in the order in which rows are locked. */
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

  /** The keys of rows that it {@linkplain #holds}, as a parameter of a statement. */
  public <T> K[] keys(List<T> rows, Function<T, Key> of) {
    return rows.stream().map(row -> fromKey.apply(of.apply(row))).toArray(newArray);
  }

  /** Keys for rows that are erased, as a parameter of a statement. */
  Object unusedKeys(int count) {
    return Stream.generate(unusedKey).limit(count).toArray(newArray);
  }

  private static long random() {
    return ThreadLocalRandom.current().nextLong();
  }

  /** A key that it {@linkplain #holds}, as a parameter of a statement. */
  public Object value(Key key) {
    return fromKey.apply(key);
  }

  /** A statement about this table, which {@code template} calls {@code {table}}. */
  public String statement(String template) {
    return template.replace("{table}", qualifiedName);
  }

  /** Reads {@link #COLUMNS} from the start of a row; empty if they are null. */
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
}

package dev.coatcheck.transfer;

import static dev.coatcheck.db.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.db.schema.Tables.PUBLIC_ID_UUID;

import dev.coatcheck.key.Key;
import dev.coatcheck.key.KeyScheme;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jooq.Table;
import org.jooq.TableField;

/**
 * The two tables of mappings, alike but for the column type of their key.
 *
 * @param <K> the column type
 */
record KeyTable<K>(
    Table<?> table,
    TableField<?, K> key,
    TableField<?, UUID> token,
    TableField<?, Integer> typeNumber,
    TableField<?, Short> status,
    Function<K, Key> toKey,
    Function<Key, K> fromKey,
    IntFunction<K[]> newArray) {

  private static final KeyTable<Long> BIGINT =
      new KeyTable<>(
          PUBLIC_ID,
          PUBLIC_ID.KEY,
          PUBLIC_ID.TOKEN,
          PUBLIC_ID.TYPE_ID,
          PUBLIC_ID.STATUS,
          Key.Bigint::new,
          key -> ((Key.Bigint) key).value(),
          Long[]::new);

  private static final KeyTable<UUID> UUIDS =
      new KeyTable<>(
          PUBLIC_ID_UUID,
          PUBLIC_ID_UUID.KEY,
          PUBLIC_ID_UUID.TOKEN,
          PUBLIC_ID_UUID.TYPE_ID,
          PUBLIC_ID_UUID.STATUS,
          Key.Uuid::new,
          key -> ((Key.Uuid) key).value(),
          UUID[]::new);

  static KeyTable<?> of(KeyScheme scheme) {
    return switch (scheme) {
      case SNOWFLAKE -> BIGINT;
      case UUIDV7 -> UUIDS;
    };
  }

  K[] keys(List<Subject> subjects) {
    return subjects.stream().map(subject -> fromKey.apply(subject.key())).toArray(newArray);
  }
}

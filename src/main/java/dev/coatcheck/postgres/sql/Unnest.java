package dev.coatcheck.postgres.sql;

import static org.jooq.impl.DSL.val;

import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import org.jooq.Field;
import org.jspecify.annotations.Nullable;

/**
 * Columns of many rows as arrays for {@code unnest}: a statement has one text for any number of
 * rows, and Postgres keeps its plan.
 */
public final class Unnest {
  private Unnest() {}

  public static <T> Field<Short[]> shorts(List<T> rows, ToIntFunction<T> value) {
    return column(rows, row -> (short) value.applyAsInt(row), Short[]::new);
  }

  public static <T> Field<Integer[]> integers(List<T> rows, ToIntFunction<T> value) {
    return column(rows, value::applyAsInt, Integer[]::new);
  }

  public static <T> Field<String[]> texts(List<T> rows, Function<T, @Nullable String> value) {
    return column(rows, value, String[]::new);
  }

  public static <T> Field<UUID[]> uuids(List<T> rows, Function<T, @Nullable UUID> value) {
    return column(rows, value, UUID[]::new);
  }

  /** Any other type, of which {@code newArray} makes an array. */
  public static <T, V> Field<V[]> column(
      List<T> rows, Function<T, @Nullable V> value, IntFunction<V[]> newArray) {
    return val(rows.stream().map(value).toArray(newArray));
  }
}

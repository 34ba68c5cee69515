package dev.coatcheck.postgres.sql;

/**
 * A change of the feed, by its number and the moment of its commit. Two databases that parted have
 * other moments for the same number, so a server that has this change has all before it too.
 *
 * @param micros since 1970, by the clock of the primary
 */
public record KnownChange(long number, long micros) {
  /** The moment in SQL. */
  public static final String MICROS = "(extract(epoch from created_at) * 1000000)::bigint";
}

package dev.coatcheck.bench.baseline;

import dev.coatcheck.core.id.Token;

/**
 * Mappings whose tokens follow from their numbers, 0 and up, so that pgbench can ask for the same
 * rows as the gateway. Neighbours lie far apart in the index of the tokens, as with random ones.
 */
public final class NumberedRows {
  /** Odd, so that no two numbers below 2^32 have the same product in the lowest 32 bits. */
  private static final long SPREAD = 2_654_435_761L;

  private static final long MASK = 0xffff_ffffL;

  /** So that the hashes of the tokens differ: those of four equal parts are all zero. */
  private static final long OTHER_SPREAD = 40_503;

  /** A key of this product, of the year 2026. */
  private static final long FIRST_KEY = 514_719_115_370_328_064L;

  /** {@code <n>} is the number, spread. */
  private static final String TOKEN =
      """
      (repeat(lpad(to_hex(<n>::bigint), 8, '0'), 2) \
      || lpad(to_hex(<n>::bigint * %d & %d), 8, '0') \
      || lpad(to_hex(<n>::bigint), 8, '0'))::uuid\
      """
          .formatted(OTHER_SPREAD, MASK);

  static final String INSERT =
      """
      insert into coatcheck.public_id (key, token, type_id, bucket)
      select %d + i, %s, y.type_id, n & 1023
        from generate_series(?::bigint, ?::bigint) i
       cross join lateral (select i * %d & %d as n) spread
       cross join coatcheck.type y
       where y.name = ?\
      """
          .formatted(FIRST_KEY, TOKEN.replace("<n>", "n"), SPREAD, MASK);

  private static final String SELECT =
      """
      \\set i random(0, <rows> - 1)
      \\set n (:i * %d) & %d
      \\set bucket :n & 1023
      select key, created_at, token, type_id, status from coatcheck.public_id \
      where bucket = :bucket and token = %s;
      """
          .formatted(SPREAD, MASK, TOKEN.replace("<n>", ":n"));

  private NumberedRows() {}

  public static Token token(long number) {
    long n = number * SPREAD & MASK;
    return new Token(n << 32 | n, (n * OTHER_SPREAD & MASK) << 32 | n);
  }

  /** A script of pgbench that selects a random row. */
  static String select(int rows) {
    return SELECT.replace("<rows>", Integer.toString(rows));
  }
}

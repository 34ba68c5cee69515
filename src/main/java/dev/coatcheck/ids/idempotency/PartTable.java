package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_0;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_1;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_2;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_3;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_4;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_5;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_6;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_7;
import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_8;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.jooq.Table;

/**
 * The nine tables of answers, which rotate. New answers go to the current part, whose number only
 * rises; the table of a part is its number modulo nine.
 *
 * <pre>
 *   p-7      p-6 p-5 p-4 p-3 p-2 p-1    p       p+1
 *   emptied  |   24 hours of answers |  new     of transactions
 *   after a  |   at least            |  ones    that rotated before us
 *   minute
 * </pre>
 *
 * A transaction reads the number of the current part in the statement that locks its keys. Between
 * the snapshot of that statement and its lock, another transaction may commit a rotation and an
 * answer, so lookups read the next part too.
 */
final class PartTable {
  /** How long a part takes new answers, so that an answer is kept for 24 to 28 hours. */
  static final Duration PART = Duration.ofHours(4);

  private static final int EARLIER = 6;
  private static final int LATER = 1;

  private static final List<Table<?>> TABLES =
      List.of(
          IDEMPOTENCY_0,
          IDEMPOTENCY_1,
          IDEMPOTENCY_2,
          IDEMPOTENCY_3,
          IDEMPOTENCY_4,
          IDEMPOTENCY_5,
          IDEMPOTENCY_6,
          IDEMPOTENCY_7,
          IDEMPOTENCY_8);

  private PartTable() {}

  static Table<?> table(long part) {
    return TABLES.get(Math.floorMod(part, TABLES.size()));
  }

  /** The tables that a lookup reads, the newest first. */
  static List<Table<?>> lookedInto(long part) {
    return LongStream.rangeClosed(-LATER, EARLIER)
        .<Table<?>>mapToObj(back -> table(part - back))
        .toList();
  }

  /**
   * The table that is emptied when {@code part} ends: no lookup reads it, and the next rotation
   * needs it.
   */
  static Table<?> emptiedAfter(long part) {
    return table(part + LATER + 1);
  }
}

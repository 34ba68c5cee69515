package dev.coatcheck.bench.baseline;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.postgres.sql.CopyRows;

/** Rows for a table like the one of the mappings. */
public final class MappingRows {
  public static final String COLUMNS = "(key, created_at, token, type_id, bucket)";

  /** Bytes of one row. */
  public static final int ROW_BYTES = 2 + 5 * 4 + 8 + 8 + 16 + 4 + 2;

  /** November 2026. */
  private static final long CREATED_AT_MICROS = 1_795_132_800_000_000L;

  private MappingRows() {}

  public static void put(CopyRows rows, long key, Token token) {
    rows.row(5)
        .key(new Key.Bigint(key))
        .timestamp(CREATED_AT_MICROS)
        .token(token)
        .integer(1)
        .smallint(token.bucket());
  }
}

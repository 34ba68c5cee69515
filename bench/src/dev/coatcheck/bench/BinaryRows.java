package dev.coatcheck.bench;

import dev.coatcheck.core.id.Token;
import java.nio.ByteBuffer;

/** Rows of mappings in COPY's binary format. */
final class BinaryRows {
  /** Bytes of one row. */
  static final int ROW_BYTES = 2 + 5 * 4 + 8 + 8 + 16 + 4 + 2;

  static final String COLUMNS = "(key, created_at, token, type_id, bucket)";

  private static final long CREATED_AT_MICROS_SINCE_2000 = 848_448_000_000_000L;
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xFF, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
  };
  private static final byte[] END = {(byte) 0xFF, (byte) 0xFF};

  private BinaryRows() {}

  static byte[] begin() {
    return SIGNATURE.clone();
  }

  static byte[] end() {
    return END.clone();
  }

  static void put(ByteBuffer rows, long key, Token token) {
    rows.putShort((short) 5);
    rows.putInt(Long.BYTES).putLong(key);
    rows.putInt(Long.BYTES).putLong(CREATED_AT_MICROS_SINCE_2000);
    rows.putInt(2 * Long.BYTES).putLong(token.high()).putLong(token.low());
    rows.putInt(Integer.BYTES).putInt(1);
    rows.putInt(Short.BYTES).putShort((short) token.bucket());
  }
}

package dev.coatcheck.postgres.sql;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * Rows in the binary format of Postgres's COPY: a signature, for each row the number of its fields,
 * for each field its length and its bytes, and a trailer of -1.
 */
public final class CopyRows {
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xFF, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
  };

  /** From 1970 to 2000, where Postgres's time begins. */
  private static final long EPOCH_MICROS = 946_684_800_000_000L;

  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private byte[] bytes;
  private int length;

  /** Makes room for a number of bytes, and more when it is needed. */
  public CopyRows(int bytesExpected) {
    bytes = new byte[bytesExpected];
  }

  /** Before the first row. */
  public CopyRows begin() {
    int at = room(SIGNATURE.length);
    System.arraycopy(SIGNATURE, 0, bytes, at, SIGNATURE.length);
    return this;
  }

  public CopyRows row(int fields) {
    int at = room(Short.BYTES);
    SHORT.set(bytes, at, (short) fields);
    return this;
  }

  public CopyRows smallint(int value) {
    int at = field(Short.BYTES);
    SHORT.set(bytes, at, (short) value);
    return this;
  }

  public CopyRows integer(int value) {
    int at = field(Integer.BYTES);
    INT.set(bytes, at, value);
    return this;
  }

  public CopyRows timestamp(long microsSince1970) {
    return bigint(microsSince1970 - EPOCH_MICROS);
  }

  public CopyRows token(Token value) {
    return uuid(value.high(), value.low());
  }

  public CopyRows key(Key key) {
    return switch (key) {
      case Key.Bigint(long value) -> bigint(value);
      case Key.Uuid(UUID value) ->
          uuid(value.getMostSignificantBits(), value.getLeastSignificantBits());
    };
  }

  public CopyRows text(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    int at = field(utf8.length);
    System.arraycopy(utf8, 0, bytes, at, utf8.length);
    return this;
  }

  /** After the last row. */
  public CopyRows end() {
    return row(-1);
  }

  /** Valid up to {@link #length}. */
  public byte[] bytes() {
    return bytes;
  }

  public int length() {
    return length;
  }

  /** Forgets what was written, for rows that are sent in parts. */
  public void clear() {
    length = 0;
  }

  private CopyRows bigint(long value) {
    int at = field(Long.BYTES);
    LONG.set(bytes, at, value);
    return this;
  }

  private CopyRows uuid(long high, long low) {
    int at = field(2 * Long.BYTES);
    LONG.set(bytes, at, high);
    LONG.set(bytes, at + Long.BYTES, low);
    return this;
  }

  /** Writes a field's length; returns where its bytes go. */
  private int field(int size) {
    int at = room(Integer.BYTES + size);
    INT.set(bytes, at, size);
    return at + Integer.BYTES;
  }

  private int room(int size) {
    if (bytes.length - length < size) {
      bytes = Arrays.copyOf(bytes, Math.max(length + size, bytes.length * 2));
    }
    int at = length;
    length += size;
    return at;
  }
}

package dev.coatcheck.core.id;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Cryptographically strong random bits for many threads, cheaper than those of the operating
 * system.
 *
 * <h2>How it works</h2>
 *
 * There are sixteen stripes, each with a lock and a buffer of 8 KiB of AES-256-CTR key stream. A
 * thread uses the stripe of its thread ID. Nothing is kept per thread, because virtual threads
 * would then build one buffer per request. Each buffer comes from its own fresh key from the
 * operating system, so a buffer reveals nothing about another one, and a copied memory image
 * repeats little more than the rest of the current buffers.
 *
 * <p>Bytes are wiped when they are handed out, and the key is dropped before the first byte is. So
 * a later look into the memory should not find issued bytes, as far as Java can ensure that.
 */
public final class RandomSource {
  private static final int STRIPES = 16; // a power of two
  private static final int BUFFER_BYTES = 8192;
  private static final int KEY_BYTES = 32;
  private static final int BLOCK_BYTES = 16;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final SecureRandom seeds;
  private final Stripe[] stripes = new Stripe[STRIPES];

  public RandomSource() {
    this(new SecureRandom());
  }

  /** Draws the key of each buffer from {@code seeds}. */
  RandomSource(SecureRandom seeds) {
    this.seeds = seeds;
    Arrays.setAll(stripes, i -> new Stripe());
  }

  public void fill(byte[] target) {
    stripe().fill(target);
  }

  public long nextLong() {
    return stripe().nextLong();
  }

  Token nextToken() {
    return stripe().nextToken();
  }

  // Threads that live at the same time have mostly consecutive IDs, so they use different stripes.
  private Stripe stripe() {
    return stripes[(int) Thread.currentThread().threadId() & (STRIPES - 1)];
  }

  private final class Stripe {
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int used = BUFFER_BYTES;

    synchronized long nextLong() {
      return take();
    }

    synchronized Token nextToken() {
      return new Token(take(), take());
    }

    synchronized void fill(byte[] target) {
      int filled = 0;
      while (filled < target.length) {
        if (used == BUFFER_BYTES) {
          refill();
        }
        int count = Math.min(target.length - filled, BUFFER_BYTES - used);
        System.arraycopy(buffer, used, target, filled, count);
        Arrays.fill(buffer, used, used + count, (byte) 0);
        used += count;
        filled += count;
      }
    }

    private long take() {
      if (used > BUFFER_BYTES - Long.BYTES) {
        refill();
      }
      long bits = (long) LONG.get(buffer, used);
      LONG.set(buffer, used, 0L);
      used += Long.BYTES;
      return bits;
    }

    private void refill() {
      used = BUFFER_BYTES; // if this fails, no caller gets the zeros
      byte[] key = new byte[KEY_BYTES];
      seeds.nextBytes(key);
      Arrays.fill(buffer, (byte) 0);
      try {
        Cipher cipher = Cipher.getInstance("AES/CTR/NoPadding");
        cipher.init(
            Cipher.ENCRYPT_MODE,
            new SecretKeySpec(key, "AES"),
            new IvParameterSpec(new byte[BLOCK_BYTES]));
        cipher.doFinal(buffer, 0, BUFFER_BYTES, buffer, 0);
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("every Java has AES/CTR/NoPadding", e);
      }
      Arrays.fill(key, (byte) 0);
      used = 0;
    }
  }
}

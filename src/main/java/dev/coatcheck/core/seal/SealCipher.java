package dev.coatcheck.core.seal;

import dev.coatcheck.core.id.Token;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-256 on exactly one block of 16 bytes: a permutation of all tokens that nobody without the key
 * can compute.
 *
 * <p>Scanners flag {@code AES/ECB} because ECB shows which blocks of a longer text are equal. There
 * is no longer text here: each token is one block, and no two keys of a type have the same one. So
 * what ECB would reveal is what is wanted: the same key has the same public ID. Modes with a random
 * vector would make the ID longer than 16 bytes, or draw another one each time.
 *
 * <p>A warm {@link Cipher} takes 35 to 150 ns a block, a new one 4 to 26 µs, and none may be used
 * by two threads at once. So sixteen of each direction wait here, each with a lock. None is kept
 * per thread, because virtual threads would then make one for each request.
 */
final class SealCipher {
  private static final int STRIPES = 16; // a power of two
  private static final int BLOCK_BYTES = 16;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final Stripe[] enciphering = new Stripe[STRIPES];
  private final Stripe[] deciphering = new Stripe[STRIPES];

  SealCipher(byte[] key) {
    SecretKeySpec spec = new SecretKeySpec(key, "AES");
    Arrays.setAll(enciphering, _ -> new Stripe(Cipher.ENCRYPT_MODE, spec));
    Arrays.setAll(deciphering, _ -> new Stripe(Cipher.DECRYPT_MODE, spec));
  }

  Token encipher(Token plain) {
    return stripe(enciphering).apply(plain);
  }

  Token decipher(Token token) {
    return stripe(deciphering).apply(token);
  }

  // Threads that live at the same time have mostly consecutive IDs, so they use different stripes.
  private static Stripe stripe(Stripe[] all) {
    return all[(int) Thread.currentThread().threadId() & (STRIPES - 1)];
  }

  private static final class Stripe {
    private final byte[] block = new byte[BLOCK_BYTES];
    private final Cipher cipher;

    Stripe(int mode, SecretKeySpec key) {
      try {
        cipher = Cipher.getInstance("AES/ECB/NoPadding");
        cipher.init(mode, key);
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("every Java has AES/ECB/NoPadding", e);
      }
    }

    synchronized Token apply(Token from) {
      LONG.set(block, 0, from.high());
      LONG.set(block, Long.BYTES, from.low());
      try {
        int _ = cipher.doFinal(block, 0, BLOCK_BYTES, block, 0);
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("one whole block always fits", e);
      }
      return new Token((long) LONG.get(block, 0), (long) LONG.get(block, Long.BYTES));
    }
  }
}

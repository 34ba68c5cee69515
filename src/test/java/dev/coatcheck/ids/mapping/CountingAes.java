package dev.coatcheck.ids.mapping;

import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.CipherSpi;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.ShortBufferException;

/**
 * A provider in front of all others that counts the blocks of the cipher of sealed IDs, and lets
 * the provider of the JDK do them. Counts the seal keys that are read while it is installed.
 */
final class CountingAes extends Provider implements AutoCloseable {
  private static final String CIPHER = "AES/ECB/NoPadding";
  private static final AtomicLong BLOCKS = new AtomicLong();

  private CountingAes() {
    super("CountingAes", "1", "counts blocks of AES");
    put("Cipher." + CIPHER, Spi.class.getName());
  }

  static CountingAes installed() {
    CountingAes counting = new CountingAes();
    Security.insertProviderAt(counting, 1);
    return counting;
  }

  long blocks() {
    return BLOCKS.get();
  }

  @Override
  public void close() {
    Security.removeProvider(getName());
  }

  /** Made by the JDK. */
  public static final class Spi extends CipherSpi {
    private final Cipher cipher;

    public Spi() throws GeneralSecurityException {
      cipher = Cipher.getInstance(CIPHER, "SunJCE");
    }

    @Override
    protected void engineInit(int mode, Key key, SecureRandom random) throws InvalidKeyException {
      cipher.init(mode, key);
    }

    @Override
    protected void engineInit(
        int mode, Key key, AlgorithmParameterSpec parameters, SecureRandom random)
        throws InvalidKeyException, InvalidAlgorithmParameterException {
      cipher.init(mode, key, parameters);
    }

    @Override
    protected void engineInit(
        int mode, Key key, AlgorithmParameters parameters, SecureRandom random)
        throws InvalidKeyException, InvalidAlgorithmParameterException {
      cipher.init(mode, key, parameters);
    }

    @Override
    protected int engineDoFinal(byte[] in, int offset, int length, byte[] out, int outOffset)
        throws ShortBufferException, IllegalBlockSizeException, BadPaddingException {
      BLOCKS.incrementAndGet();
      return cipher.doFinal(in, offset, length, out, outOffset);
    }

    @Override
    protected byte[] engineDoFinal(byte[] in, int offset, int length)
        throws IllegalBlockSizeException, BadPaddingException {
      BLOCKS.incrementAndGet();
      return cipher.doFinal(in, offset, length);
    }

    @Override
    protected byte[] engineUpdate(byte[] in, int offset, int length) {
      return cipher.update(in, offset, length);
    }

    @Override
    protected int engineUpdate(byte[] in, int offset, int length, byte[] out, int outOffset)
        throws ShortBufferException {
      return cipher.update(in, offset, length, out, outOffset);
    }

    @Override
    protected void engineSetMode(String mode) {}

    @Override
    protected void engineSetPadding(String padding) {}

    @Override
    protected int engineGetBlockSize() {
      return cipher.getBlockSize();
    }

    @Override
    protected int engineGetOutputSize(int length) {
      return cipher.getOutputSize(length);
    }

    @Override
    protected byte[] engineGetIV() {
      return cipher.getIV();
    }

    @Override
    protected AlgorithmParameters engineGetParameters() {
      return cipher.getParameters();
    }
  }
}

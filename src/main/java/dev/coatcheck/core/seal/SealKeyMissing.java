package dev.coatcheck.core.seal;

/**
 * A public ID can be neither made nor opened here, because this instance lacks the seal key of its
 * era. Another instance may have it. It is never taken for an ID that does not exist.
 */
public final class SealKeyMissing extends RuntimeException {
  private final String fingerprint;

  public SealKeyMissing(String fingerprint) {
    super("no seal key with fingerprint " + fingerprint);
    this.fingerprint = fingerprint;
  }

  public String fingerprint() {
    return fingerprint;
  }
}

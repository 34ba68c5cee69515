package dev.coatcheck.core.seal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** Seal keys of tests, in a file as an owner has it. */
public final class TestSealKeys {
  /** Secrets of which tests name the fingerprints. */
  private static final List<String> SECRETS =
      List.of("1".repeat(64), "2".repeat(64), "3".repeat(64));

  public static final SealKeys ALL = of(SECRETS);

  /** Their fingerprints. */
  public static final String FIRST = ALL.fingerprints().get(0);

  public static final String SECOND = ALL.fingerprints().get(1);
  public static final String THIRD = ALL.fingerprints().get(2);

  private TestSealKeys() {}

  /** What an instance has that lacks the second one. */
  public static SealKeys withoutSecond() {
    return of(List.of(SECRETS.get(0), SECRETS.get(2)));
  }

  /** What an instance has whose first key was destroyed. */
  public static SealKeys withoutFirst() {
    return of(SECRETS.subList(1, SECRETS.size()));
  }

  /** A file of the keys, deleted when the JVM ends. */
  public static Path file() {
    return file(SECRETS);
  }

  private static SealKeys of(List<String> secrets) {
    if (SealKeys.read(file(secrets)) instanceof SealKeys.Parsed.Valid(SealKeys keys)) {
      return keys;
    }
    throw new AssertionError("keys of tests");
  }

  private static Path file(List<String> secrets) {
    try {
      Path file =
          Files.createTempFile(
              "coatcheck-test-",
              ".keys",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      file.toFile().deleteOnExit();
      return Files.write(file, secrets);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}

package dev.coatcheck.core.scheme;

import com.github.f4b6a3.ksuid.Ksuid;
import com.github.f4b6a3.ulid.Ulid;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Identifiers that are texts, by the names of their schemes: {@code ulid} and {@code ksuid}. */
public final class TextSchemes {
  private static final long ULID_MILLIS_END = 1L << 48;
  private static final long KSUID_SECONDS_END = Ksuid.EPOCH_OFFSET + (1L << 32);

  private final Map<String, TextKeys<?>> byName;

  public TextSchemes() {
    this(new SecureRandom(), System::currentTimeMillis);
  }

  TextSchemes(SecureRandom random, LongSupplier wallMillis) {
    this.byName =
        Map.of(
            "ulid", new TextKeys<>(ulids(random), wallMillis),
            "ksuid", new TextKeys<>(ksuids(random), wallMillis));
  }

  private static TextKeys.Format<Ulid> ulids(SecureRandom random) {
    return new TextKeys.Format<>(
        1,
        Instant.EPOCH,
        Instant.ofEpochMilli(ULID_MILLIS_END),
        millis -> new Ulid(millis, bytes(random, Ulid.RANDOM_BYTES)),
        Ulid::increment);
  }

  private static TextKeys.Format<Ksuid> ksuids(SecureRandom random) {
    return new TextKeys.Format<>(
        1_000,
        Instant.ofEpochSecond(Ksuid.EPOCH_OFFSET),
        Instant.ofEpochSecond(KSUID_SECONDS_END),
        millis -> new Ksuid(millis / 1_000, bytes(random, Ksuid.PAYLOAD_BYTES)),
        Ksuid::increment);
  }

  /** The highest bit stays 0, so that no increment can overflow into the time. */
  private static byte[] bytes(SecureRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    bytes[0] &= 0x7f;
    return bytes;
  }

  public Optional<TextKeys<?>> named(String scheme) {
    return Optional.ofNullable(byName.get(scheme));
  }
}

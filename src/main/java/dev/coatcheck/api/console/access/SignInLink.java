package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.core.id.RandomSource;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A link that signs in once, within ten minutes of its making, on this machine only. It is known in
 * the memory of this process only; a new link replaces the one before.
 */
public final class SignInLink {
  static final String PATH = Paths.SIGN_IN + "/once/{secret}";
  static final Duration LIFETIME = Duration.ofMinutes(10);
  private static final int SECRET_BYTES = 32;

  private final RandomSource random;
  private final LongSupplier nanoTime;
  private final AtomicReference<@Nullable Pending> pending = new AtomicReference<>();

  /** A link that nobody has used, and the API key that it signs in with. */
  private record Pending(String secret, String apiKey, long madeNanos) {
    /** Without the secrets, so that a log line does no harm. */
    @Override
    public String toString() {
      return "Pending[…]";
    }

    boolean isFor(String other) {
      return MessageDigest.isEqual(
          secret.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
  }

  public SignInLink(RandomSource random, LongSupplier nanoTime) {
    this.random = random;
    this.nanoTime = nanoTime;
  }

  /** Makes a link that signs in with the API key, and returns its path. */
  public String make(String apiKey) {
    byte[] bytes = new byte[SECRET_BYTES];
    random.fill(bytes);
    String secret = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    pending.set(new Pending(secret, apiKey, nanoTime.getAsLong()));
    return PATH.replace("{secret}", secret);
  }

  /** Whether the secret is that of a link which still signs in. */
  boolean isGood(String secret) {
    return good(secret).isPresent();
  }

  /**
   * Signs in with the API key of the link, and uses it up, unless that fails.
   *
   * @return empty if the link does not sign in any more, or its API key doesn't
   */
  <R> Optional<R> use(String secret, Function<String, Optional<R>> signIn) {
    Optional<Pending> used = good(secret).filter(link -> pending.compareAndSet(link, null));
    try {
      return used.map(Pending::apiKey).flatMap(signIn);
    } catch (RuntimeException failed) {
      pending.compareAndSet(null, used.orElseThrow());
      throw failed;
    }
  }

  private Optional<Pending> good(String secret) {
    return Optional.ofNullable(pending.get())
        .filter(link -> nanoTime.getAsLong() - link.madeNanos() < LIFETIME.toNanos())
        .filter(link -> link.isFor(secret));
  }
}

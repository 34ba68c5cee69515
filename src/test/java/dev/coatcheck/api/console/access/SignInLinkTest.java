package dev.coatcheck.api.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.id.RandomSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SignInLinkTest {
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final SignInLink link = new SignInLink(new RandomSource(), nanos::get);

  @Test
  void aLinkSignsInOnceAndWasNotUsedUpByALook() {
    String secret = secret(link.make("key"));

    assertThat(link.isGood(secret)).isTrue();
    assertThat(link.isGood(secret)).isTrue();
    assertThat(link.use(secret, Optional::of)).contains("key");
    assertThat(link.isGood(secret)).isFalse();
    assertThat(link.use(secret, Optional::of)).isEmpty();
  }

  @Test
  void aLinkEndsAfterTenMinutes() {
    String secret = secret(link.make("key"));
    nanos.addAndGet(SignInLink.LIFETIME.toNanos() - 1);
    assertThat(link.isGood(secret)).isTrue();

    nanos.addAndGet(1);

    assertThat(link.isGood(secret)).isFalse();
    assertThat(link.use(secret, Optional::of)).isEmpty();
  }

  @Test
  void anotherSecretDoesNotSignInAndLeavesTheLinkGood() {
    assertThat(link.use("x", Optional::of)).isEmpty();
    String first = secret(link.make("key"));
    String second = secret(link.make("key"));

    assertThat(second).matches("[A-Za-z0-9_-]{43}").isNotEqualTo(first);
    assertThat(link.use(first, Optional::of)).isEmpty();
    assertThat(link.use(second, Optional::of)).contains("key");
  }

  /** Such as in an outage of Postgres. */
  @Test
  void aLinkWhoseSessionIsNotStoredSignsInAgain() {
    String secret = secret(link.make("key"));

    assertThatThrownBy(
            () ->
                link.use(
                    secret,
                    key -> {
                      throw new IllegalStateException("not stored");
                    }))
        .hasMessage("not stored");

    assertThat(link.isGood(secret)).isTrue();
    assertThat(link.use(secret, Optional::of)).contains("key");
  }

  @Test
  void aLinkThatWasReplacedMeanwhileStaysReplaced() {
    String first = secret(link.make("key"));
    List<String> second = new ArrayList<>();

    assertThatThrownBy(
            () ->
                link.use(
                    first,
                    key -> {
                      second.add(secret(link.make("key")));
                      throw new IllegalStateException("not stored");
                    }))
        .hasMessage("not stored");

    assertThat(link.isGood(first)).isFalse();
    assertThat(link.isGood(second.getFirst())).isTrue();
  }

  private static String secret(String path) {
    assertThat(path).startsWith("/console/sign-in/once/");
    return path.substring("/console/sign-in/once/".length());
  }
}

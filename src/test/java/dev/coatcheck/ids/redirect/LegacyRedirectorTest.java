package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.OutagePolicy;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.RedirectTemplate;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class LegacyRedirectorTest {
  private static final MappingFixture FIXTURE = new MappingFixture();
  private static final Instant SUNSET = Instant.parse("2030-01-01T00:00:00Z");
  private static final int MAX_AGE_SECONDS = 3_600;

  @AfterAll
  static void close() {
    FIXTURE.close();
  }

  /** A cache that keeps the redirect longer would lead clients on after the end. */
  @Test
  void noCacheKeepsARedirectBeyondTheSunset() {
    Type order = order();
    FIXTURE.mint(
        new MintRequest(
            order, Optional.empty(), List.of(Alias.of(order, AliasScheme.LEGACY, "17"))));
    AtomicReference<Instant> now = new AtomicReference<>();
    try (Legacy legacy =
        Legacy.open(
            FIXTURE.database,
            FIXTURE.registry,
            FIXTURE.mappings.resolver(),
            LegacySource.NONE,
            FIXTURE.observer,
            now::get)) {
      long[][] secondsLeftAndMaxAge = {{86_400, 3_600}, {3_601, 3_600}, {3_599, 3_599}, {1, 1}};
      for (long[] seconds : secondsLeftAndMaxAge) {
        now.set(SUNSET.minusSeconds(seconds[0]));
        assertThat(follow(legacy))
            .isInstanceOfSatisfying(
                LegacyOutcome.To.class,
                to -> assertThat((long) to.maxAgeSeconds()).isEqualTo(seconds[1]));
      }
      now.set(SUNSET.minusMillis(1));
      assertThat(follow(legacy))
          .isInstanceOfSatisfying(
              LegacyOutcome.To.class, to -> assertThat(to.maxAgeSeconds()).isZero());
      now.set(SUNSET);
      assertThat(follow(legacy)).isInstanceOf(LegacyOutcome.Over.class);
    }
  }

  private static LegacyOutcome follow(Legacy legacy) {
    return legacy.redirector().follow("order", 17, Visitor.at("192.0.2.1"));
  }

  private static Type order() {
    if (!(RedirectTemplate.parse("https://shop.example/{id}", RedirectHosts.any())
        instanceof RedirectTemplate.Parsed.Accepted(RedirectTemplate template))) {
      throw new AssertionError("the template is refused");
    }
    LegacyPolicy policy =
        new LegacyPolicy(
            308,
            true,
            OptionalLong.empty(),
            Optional.empty(),
            Optional.of(SUNSET),
            MAX_AGE_SECONDS);
    FIXTURE.registry.put(
        new TypeDefinition(
            "order",
            new Prefix("ord"),
            KeyScheme.SNOWFLAKE,
            SnowflakeLayout.DEFAULT,
            new Policies(
                Optional.of(new Redirect(template, 302, MAX_AGE_SECONDS, true, false)),
                Optional.of(policy),
                List.of(),
                Optional.empty(),
                OutagePolicy.DEFAULT)),
        OptionalInt.empty());
    return FIXTURE.registry.named("order").orElseThrow();
  }
}

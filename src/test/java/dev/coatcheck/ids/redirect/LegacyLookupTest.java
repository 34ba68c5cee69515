package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Legacy IDs of a table that a migration fills: rows with odd numbers are there, with key = n. */
class LegacyLookupTest {
  private static final MappingFixture FIXTURE = new MappingFixture();

  private final List<Long> filled = new ArrayList<>();

  @AfterAll
  static void close() {
    FIXTURE.close();
  }

  /** Only rows of charges. */
  private final class Table implements LegacySource {
    @Override
    public boolean isFilling(Type type) {
      return type.number() == FIXTURE.charge.number();
    }

    @Override
    public boolean fillOnDemand(Type type, long number) {
      filled.add(number);
      if (number % 2 == 0) {
        return false;
      }
      mint(type, number);
      return true;
    }
  }

  private static void mint(Type type, long number) {
    Optional<Key> key =
        type.number() == FIXTURE.charge.number()
            ? Optional.of(new Key.Bigint(number))
            : Optional.empty();
    FIXTURE.mint(
        new MintRequest(
            type, key, List.of(Alias.of(type, AliasScheme.LEGACY, Long.toString(number)))));
  }

  @Test
  void rowsWithoutAMappingAreFilledAndAllAnswersAreInOrder() {
    mint(FIXTURE.charge, 1);
    mint(FIXTURE.user, 2);
    try (Legacy legacy = open("2026-01-01T00:00:00Z")) {
      List<ResolveOutcome> found =
          legacy
              .lookup()
              .findAll(
                  List.of(
                      new LegacyId(FIXTURE.charge, 3),
                      new LegacyId(FIXTURE.user, 2),
                      new LegacyId(FIXTURE.charge, 2),
                      new LegacyId(FIXTURE.charge, 1),
                      new LegacyId(FIXTURE.user, 3),
                      new LegacyId(FIXTURE.charge, 3)));

      assertThat(found.stream().map(LegacyLookupTest::key))
          .containsExactly("3", "user", "none", "1", "none", "3");
      assertThat(filled).containsExactlyInAnyOrder(3L, 2L);
      LocalDate today = legacy.hits().today();
      legacy.hits().flush();
      assertThat(legacy.hits().of(FIXTURE.charge, today, today))
          .containsExactly(new LegacyHits.DayCount(today, 3));
      assertThat(legacy.hits().of(FIXTURE.user, today, today))
          .containsExactly(new LegacyHits.DayCount(today, 1));
    }
  }

  @Test
  void aThousandAreFoundAsOneByOne() {
    try (Legacy legacy = open("2026-01-02T00:00:00Z")) {
      List<LegacyId> ids =
          LongStream.rangeClosed(101, 1_100)
              .mapToObj(number -> new LegacyId(FIXTURE.charge, number))
              .toList();

      List<ResolveOutcome> together = legacy.lookup().findAll(ids);

      assertThat(together.stream().filter(ResolveOutcome.Found.class::isInstance)).hasSize(500);
      assertThat(together)
          .isEqualTo(ids.stream().map(id -> legacy.lookup().find(id.type(), id.number())).toList());
      assertThat(legacy.lookup().findAll(List.of())).isEmpty();
    }
  }

  private Legacy open(String now) {
    return Legacy.open(
        FIXTURE.database,
        FIXTURE.registry,
        FIXTURE.mappings.resolver(),
        new Table(),
        FIXTURE.observer,
        InstantSource.fixed(Instant.parse(now)));
  }

  private static String key(ResolveOutcome outcome) {
    return outcome instanceof ResolveOutcome.Found(Mapping mapping)
        ? mapping.type().name().equals("user") ? "user" : mapping.key().text()
        : "none";
  }
}

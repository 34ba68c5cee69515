package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;

/** Keys of given times, what a thief of a seal key makes of them, and eras in the past. */
public final class TestEras {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;

  private TestEras() {}

  public static Key.Bigint key(String time, int number) {
    return new Key.Bigint(
        LAYOUT.key(LAYOUT.position(Instant.parse(time).toEpochMilli()), 3) + number);
  }

  /** What the seal key makes of a key, whatever its era. */
  public static Token forged(Type type, String sealKey, Key.Bigint key) {
    return new Sealing(
            type.prefix(),
            LAYOUT,
            Instant.EPOCH,
            List.of(
                new Sealing.Era(
                    Optional.empty(),
                    sealKey,
                    TestSealKeys.ALL.withFingerprint(sealKey),
                    Optional.empty())))
        .seal(key.value())
        .orElseThrow();
  }

  public static String forgedId(Type type, String sealKey, Key.Bigint key) {
    return new PublicId(type.prefix(), forged(type, sealKey, key)).toString();
  }

  /** Begins an era of the second seal key, as if that had been done in time. */
  public static Type began(MappingFixture fixture, Type type, String startsAt) {
    assertThat(
            fixture.registry.addEra(
                type.name(), Optional.empty(), TestSealKeys.SECOND, Actor.operator()))
        .isPresent();
    fixture
        .on
        .sql()
        .execute(
            "update coatcheck.era set starts_at = '%s' where starts_at is not null and type_id = %d"
                .formatted(startsAt, type.number()),
            "update coatcheck.type set version = version + 1 where type_id = " + type.number());
    Instant wanted = Instant.parse(startsAt);
    Awaitility.await()
        .until(
            () -> {
              fixture.registry.named("unknown"); // reads the types again
              return fixture.registry.named(type.name()).stream()
                  .flatMap(each -> each.sealing().orElseThrow().eras().stream())
                  .anyMatch(era -> era.startsAt().equals(Optional.of(wanted)));
            });
    return fixture.registry.named(type.name()).orElseThrow();
  }
}

package dev.coatcheck.ids.registry;

import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.registry.TypeDefinition.SealedFrom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * The rules for sealing a type: why a change is refused. Whether a key is sealed, and by which era,
 * depends on nothing but the key: so neither the moment nor the start of an era ever changes, and
 * both lie beyond every key that exists.
 */
final class SealRules {
  /** How far ahead what concerns keys that exist is decided: an hour beyond the furthest key. */
  private static final Duration AHEAD = Sealing.KEY_AHEAD_MAX.plusHours(1);

  /** Each refusal of a public ID tries all eras of its type. */
  static final int ERAS_MAX = 32;

  private static final String SEALED = "sealed";
  private static final String FROM = "sealed.from";

  private SealRules() {}

  /** Why the sealing of a definition is refused whatever the keys are; empty if it isn't. */
  static Optional<PutOutcome> refusal(
      Optional<Type> present, TypeDefinition definition, SealKeys keys) {
    if (definition.sealed().isEmpty()) {
      return Optional.empty();
    }
    SealedFrom wanted = definition.sealed().get();
    Optional<Sealing> before = present.flatMap(Type::sealing);
    if (before.isPresent()) {
      return before.get().from().equals(wanted.from())
              && before.get().eras().getFirst().fingerprint().equals(wanted.sealKey())
          ? Optional.empty()
          : refused(
              "immutable_field",
              SEALED,
              "What a type seals never changes. Send what it has, or leave sealed out; another seal"
                  + " key begins with POST /v1/types/{name}/eras.");
    }
    if (!(definition.generation() instanceof KeyTimes.Snowflakes(SnowflakeLayout layout))) {
      return refused(
          "type_not_sealable",
          SEALED,
          "Only keys that are generated as Snowflakes can be sealed. Leave sealed out.");
    }
    if (wanted.from().toEpochMilli() >= layout.endMillis()) {
      return refused(
          "sealed_from_refused", FROM, "No key is of that time. Seal from an earlier moment.");
    }
    return unknownKey(keys, wanted.sealKey(), "sealed.seal_key");
  }

  /**
   * Why a type that has existed cannot be sealed from a moment on; empty if it can.
   *
   * @param last the time of its greatest key; empty if it has none
   */
  static Optional<PutOutcome> tooEarly(SealedFrom wanted, Instant now, Optional<Instant> last) {
    Instant least = now.plus(AHEAD);
    if (wanted.from().isBefore(least)) {
      return refused(
          "sealed_from_refused",
          FROM,
          "A type that exists is sealed from at least 25 hours ahead: " + least + " or later.");
    }
    return last.filter(time -> !time.isBefore(wanted.from()))
        .flatMap(
            time ->
                refused(
                    "sealed_from_refused",
                    FROM,
                    "The type has a key of %s, and a key that has a public ID already can't be sealed. Seal from a later time."
                        .formatted(time)));
  }

  static PutOutcome migrating() {
    return new PutOutcome.Refused(
        "type_not_sealable",
        SEALED,
        "A table migration of the type is under way, and its keys need rows. Retire it first, or"
            + " create another type.");
  }

  /** Why an era can't begin; empty if it can. */
  static Optional<PutOutcome> eraRefusal(
      Type type, Instant startsAt, String sealKey, Instant now, SealKeys keys) {
    if (type.sealing().isEmpty()) {
      return refused(
          "type_not_sealable",
          "name",
          "The type is not sealed. Send sealed with PATCH /v1/types/{name} first.");
    }
    Sealing sealing = type.sealing().get();
    if (sealing.eras().stream().anyMatch(era -> era.fingerprint().equals(sealKey))) {
      return refused(
          "era_refused", "seal_key", "Another era of the type has this seal key. Make a new one.");
    }
    if (sealing.eras().size() == ERAS_MAX) {
      return refused("era_refused", "name", "A type has at most " + ERAS_MAX + " eras.");
    }
    Instant least = earliest(type, now);
    if (startsAt.isBefore(least)) {
      return refused(
          "era_refused",
          "starts_at",
          "An era starts at least 25 hours ahead, and after the one before: %s or later."
              .formatted(least));
    }
    return unknownKey(keys, sealKey, "seal_key");
  }

  static PutOutcome eraUnknown() {
    return new PutOutcome.Refused(
        "era_refused",
        "seal_key",
        "No era of the type has this seal key. GET /v1/types/{name} lists its eras.");
  }

  /** When the next era of a type may start. */
  static Instant earliest(Type type, Instant now) {
    Instant least = now.plus(AHEAD).truncatedTo(ChronoUnit.MILLIS).plusMillis(1);
    return type.sealing()
        .flatMap(sealing -> sealing.eras().getLast().startsAt())
        .map(start -> start.plusMillis(1))
        .filter(least::isBefore)
        .orElse(least);
  }

  private static Optional<PutOutcome> unknownKey(SealKeys keys, String sealKey, String field) {
    return keys.withFingerprint(sealKey).isPresent()
        ? Optional.empty()
        : refused(
            "seal_key_unknown",
            field,
            "This instance has no seal key with this fingerprint. Add the key to the file of"
                + " COATCHECK_SEAL_KEYS_FILE on every instance, and restart them.");
  }

  private static Optional<PutOutcome> refused(String code, String field, String detail) {
    return Optional.of(new PutOutcome.Refused(code, field, detail));
  }
}

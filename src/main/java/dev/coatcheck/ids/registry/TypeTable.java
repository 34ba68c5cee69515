package dev.coatcheck.ids.registry;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.core.older.Decoder;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import dev.coatcheck.core.older.TypeIds;
import dev.coatcheck.core.older.Uuids;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.ids.pattern.PublicRule;
import dev.coatcheck.ids.pattern.TextShape;
import dev.coatcheck.postgres.sql.schema.tables.records.TypeRecord;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A type as a row of its table. */
final class TypeTable {
  private static final int REDIRECT_STATUS_UNUSED = 302;
  private static final String PATTERN = "pattern";

  private TypeTable() {}

  static void setPolicies(TypeRecord row, Policies policies) {
    setRedirect(row, policies.redirect());
    setLegacy(row, policies.legacy());
    row.setUrlTemplates(
        policies.urlTemplates().stream().map(LegacyUrlTemplate::toString).toArray(String[]::new));
    setOlderSystem(row, policies.olderSystem());
    row.setOnOutage(policies.outage().onOutage().wireName());
    row.setStaleSecondsMax(policies.outage().staleSecondsMax());
  }

  static Type read(TypeRecord row) {
    return new Type(
        row.getTypeId(),
        row.getName(),
        new Prefix(row.getPrefix()),
        WireNamed.find(KeyKind.class, row.getKeyKind()).orElseThrow(),
        generation(row),
        new Salt(row.getSalt()),
        policies(row),
        ClientNames.named(row.getClientNames()).orElseThrow(),
        row.getCreatedAt(),
        row.getUpdatedAt(),
        row.getVersion());
  }

  static void setGeneration(TypeRecord row, KeyGeneration generation) {
    row.setGenerate(generation.wireName());
    switch (generation) {
      case KeyTimes.Snowflakes(SnowflakeLayout layout) -> row.setLayout(layout.name());
      case KeyGeneration.Segment(String tag) -> row.setTag(tag);
      case KeyTimes.UuidsV7 _, KeyGeneration.None _ -> {}
    }
  }

  private static KeyGeneration generation(TypeRecord row) {
    return switch (row.getGenerate()) {
      case KeyGeneration.SNOWFLAKE ->
          new KeyTimes.Snowflakes(SnowflakeLayout.accepted(requireNonNull(row.getLayout())));
      case KeyGeneration.SEGMENT -> new KeyGeneration.Segment(requireNonNull(row.getTag()));
      case KeyGeneration.UUIDV7 -> new KeyTimes.UuidsV7();
      case KeyGeneration.NONE -> new KeyGeneration.None();
      default -> throw new IllegalStateException("stored generate: " + row.getGenerate());
    };
  }

  private static Policies policies(TypeRecord row) {
    return new Policies(
        Optional.ofNullable(row.getRedirectTemplate()).map(template -> redirect(row, template)),
        Optional.ofNullable(row.getLegacyStatus()).map(status -> legacy(row, status)),
        urlTemplates(row.getUrlTemplates()),
        olderSystem(row),
        new OutagePolicy(
            OnOutage.named(row.getOnOutage()).orElseThrow(), row.getStaleSecondsMax()));
  }

  static List<LegacyUrlTemplate> urlTemplates(String[] stored) {
    return Arrays.stream(stored).map(LegacyUrlTemplate::stored).toList();
  }

  private static void setRedirect(TypeRecord row, Optional<Redirect> redirect) {
    row.setRedirectTemplate(redirect.map(to -> to.template().toString()).orElse(null));
    row.setRedirectStatus(redirect.map(Redirect::status).orElse(REDIRECT_STATUS_UNUSED));
    row.setRedirectMaxAgeSeconds(redirect.map(Redirect::maxAgeSeconds).orElse(0));
    row.setRedirectPublic(redirect.map(Redirect::isPublic).orElse(false));
    row.setRedirectExposeKey(redirect.map(Redirect::exposeKey).orElse(false));
  }

  private static void setLegacy(TypeRecord row, Optional<LegacyPolicy> legacy) {
    row.setLegacyStatus(legacy.map(LegacyPolicy::status).orElse(null));
    row.setLegacyPublic(legacy.map(LegacyPolicy::isPublic).orElse(false));
    row.setLegacyMaxId(legacy.map(LegacyPolicy::maxId).flatMap(TypeTable::boxed).orElse(null));
    row.setLegacyDeprecatedAt(legacy.flatMap(LegacyPolicy::deprecatedAt).orElse(null));
    row.setLegacySunsetAt(legacy.flatMap(LegacyPolicy::sunsetAt).orElse(null));
    row.setLegacyMaxAgeSeconds(legacy.map(LegacyPolicy::maxAgeSeconds).orElse(0));
  }

  /** What a system doesn't have is empty or 0. */
  private static void setOlderSystem(TypeRecord row, Optional<OlderSystem> system) {
    row.setPublicScheme(null);
    row.setPublicTextPrefix("");
    row.setPublicTypeName("");
    row.setPublicSalt("");
    row.setPublicAlphabet("");
    row.setPublicMinLength(0);
    row.setPublicMaxLength(0);
    if (system.isPresent()) {
      switch (system.get()) {
        case PublicPattern(TextShape shape) -> {
          row.setPublicScheme(PATTERN);
          row.setPublicTextPrefix(shape.prefix());
          row.setPublicAlphabet(shape.alphabet().characters());
          row.setPublicMinLength(shape.lengthMin());
          row.setPublicMaxLength(shape.lengthMax());
        }
        case PublicRule(String textPrefix, Decoder decoder) -> {
          row.setPublicTextPrefix(textPrefix);
          setDecoder(row, decoder);
        }
      }
    }
  }

  private static void setDecoder(TypeRecord row, Decoder decoder) {
    row.setPublicScheme(decoder.scheme());
    switch (decoder) {
      case Hashids hashids -> {
        row.setPublicSalt(hashids.salt());
        row.setPublicAlphabet(hashids.alphabet().characters());
        row.setPublicMinLength(hashids.minLength());
      }
      case Sqids sqids -> {
        row.setPublicAlphabet(sqids.alphabet().characters());
        row.setPublicMinLength(sqids.minLength());
      }
      case TypeIds(String typeName) -> row.setPublicTypeName(typeName);
      case Uuids _ -> {}
    }
  }

  static Optional<OlderSystem> olderSystem(TypeRecord row) {
    return Optional.ofNullable(row.getPublicScheme())
        .map(
            scheme ->
                scheme.equals(PATTERN)
                    ? new PublicPattern(
                        new TextShape(
                            row.getPublicTextPrefix(),
                            new Alphabet(row.getPublicAlphabet()),
                            row.getPublicMinLength(),
                            row.getPublicMaxLength()))
                    : new PublicRule(row.getPublicTextPrefix(), decoder(row, scheme)));
  }

  private static Decoder decoder(TypeRecord row, String scheme) {
    return switch (scheme) {
      case Hashids.SCHEME ->
          new Hashids(
              row.getPublicSalt(), new Alphabet(row.getPublicAlphabet()), row.getPublicMinLength());
      case Sqids.SCHEME ->
          new Sqids(new Alphabet(row.getPublicAlphabet()), row.getPublicMinLength());
      case TypeIds.SCHEME -> new TypeIds(row.getPublicTypeName());
      case Uuids.SCHEME -> new Uuids();
      default -> throw new IllegalStateException("stored scheme: " + scheme);
    };
  }

  private static Redirect redirect(TypeRecord row, String template) {
    return new Redirect(
        RedirectTemplate.stored(template),
        row.getRedirectStatus(),
        row.getRedirectMaxAgeSeconds(),
        row.getRedirectPublic(),
        row.getRedirectExposeKey());
  }

  private static LegacyPolicy legacy(TypeRecord row, int status) {
    return new LegacyPolicy(
        status,
        row.getLegacyPublic(),
        row.getLegacyMaxId() == null ? OptionalLong.empty() : OptionalLong.of(row.getLegacyMaxId()),
        Optional.ofNullable(row.getLegacyDeprecatedAt()),
        Optional.ofNullable(row.getLegacySunsetAt()),
        row.getLegacyMaxAgeSeconds());
  }

  private static Optional<Long> boxed(OptionalLong number) {
    return number.isPresent() ? Optional.of(number.getAsLong()) : Optional.empty();
  }
}

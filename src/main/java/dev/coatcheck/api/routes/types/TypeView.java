package dev.coatcheck.api.routes.types;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import dev.coatcheck.core.older.TypeIds;
import dev.coatcheck.core.older.Uuids;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.ids.pattern.PublicRule;
import dev.coatcheck.ids.pattern.TextShape;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A type in an answer. */
record TypeView(
    String object,
    String name,
    String prefix,
    String key,
    String generate,
    @Nullable String layout,
    @Nullable String tag,
    @Nullable RedirectView redirect,
    @Nullable LegacyView legacy,
    List<String> urlTemplates,
    @Nullable PatternView publicPattern,
    @Nullable RuleView publicRule,
    String clientNames,
    String onOutage,
    int staleSecondsMax,
    Instant createdAt,
    Instant updatedAt,
    int version) {
  static TypeView of(Type type) {
    return new TypeView(
        "type",
        type.name(),
        type.prefix().value(),
        type.keyKind().wireName(),
        type.generation().wireName(),
        type.generation() instanceof KeyTimes.Snowflakes(SnowflakeLayout layout)
            ? layout.name()
            : null,
        type.generation() instanceof KeyGeneration.Segment(String tag) ? tag : null,
        type.redirect().map(RedirectView::of).orElse(null),
        type.legacy().map(LegacyView::of).orElse(null),
        type.urlTemplates().stream().map(LegacyUrlTemplate::toString).toList(),
        type.publicPattern().map(PatternView::of).orElse(null),
        type.publicRule().map(RuleView::of).orElse(null),
        type.clientNames().wireName(),
        type.outage().onOutage().wireName(),
        type.outage().staleSecondsMax(),
        type.createdAt(),
        type.updatedAt(),
        type.version());
  }

  private record PatternView(String textPrefix, String alphabet, int minLength, int maxLength) {
    static PatternView of(PublicPattern pattern) {
      TextShape shape = pattern.shape();
      return new PatternView(
          shape.prefix(), shape.alphabet().characters(), shape.lengthMin(), shape.lengthMax());
    }
  }

  /** What a scheme doesn't have is left out. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record RuleView(
      String scheme,
      String textPrefix,
      @Nullable String prefix,
      @Nullable String salt,
      @Nullable String alphabet,
      @Nullable Integer minLength) {
    static RuleView of(PublicRule rule) {
      String scheme = rule.decoder().scheme();
      String textPrefix = rule.textPrefix();
      return switch (rule.decoder()) {
        case Hashids hashids ->
            new RuleView(
                scheme,
                textPrefix,
                null,
                hashids.salt(),
                hashids.alphabet().characters(),
                hashids.minLength());
        case Sqids sqids ->
            new RuleView(
                scheme, textPrefix, null, null, sqids.alphabet().characters(), sqids.minLength());
        case TypeIds(String typeName) ->
            new RuleView(scheme, textPrefix, typeName, null, null, null);
        case Uuids _ -> new RuleView(scheme, textPrefix, null, null, null, null);
      };
    }
  }

  private record RedirectView(
      String template,
      int status,
      int maxAgeSeconds,
      @JsonProperty("public") boolean isPublic,
      boolean exposeKey) {
    static RedirectView of(Redirect redirect) {
      return new RedirectView(
          redirect.template().toString(),
          redirect.status(),
          redirect.maxAgeSeconds(),
          redirect.isPublic(),
          redirect.exposeKey());
    }
  }

  private record LegacyView(
      int status,
      @JsonProperty("public") boolean isPublic,
      @Nullable String maxId,
      @Nullable Instant deprecatedAt,
      @Nullable Instant sunsetAt,
      int maxAgeSeconds) {
    static LegacyView of(LegacyPolicy legacy) {
      return new LegacyView(
          legacy.status(),
          legacy.isPublic(),
          legacy.maxId().isPresent() ? Long.toString(legacy.maxId().getAsLong()) : null,
          legacy.deprecatedAt().orElse(null),
          legacy.sunsetAt().orElse(null),
          legacy.maxAgeSeconds());
    }
  }
}

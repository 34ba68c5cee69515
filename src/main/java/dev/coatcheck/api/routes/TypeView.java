package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.PublicPattern;
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
    String keyScheme,
    String keyLayout,
    @Nullable RedirectView redirect,
    @Nullable LegacyView legacy,
    List<String> urlTemplates,
    @Nullable String publicPattern,
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
        type.keyScheme().wireName(),
        type.keyLayout().name(),
        type.redirect().map(RedirectView::of).orElse(null),
        type.legacy().map(LegacyView::of).orElse(null),
        type.urlTemplates().stream().map(LegacyUrlTemplate::toString).toList(),
        type.publicPattern().map(PublicPattern::toString).orElse(null),
        type.clientNames().wireName(),
        type.outage().onOutage().wireName(),
        type.outage().staleSecondsMax(),
        type.createdAt(),
        type.updatedAt(),
        type.version());
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

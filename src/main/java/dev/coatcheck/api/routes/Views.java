package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.PublicPattern;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The shapes of answers. Keys leave as strings: a double holds 53 bits. */
final class Views {
  private Views() {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record PublicIdView(
      String object,
      String id,
      String type,
      String key,
      String status,
      @Nullable String mergedInto,
      Instant createdAt,
      @Nullable Instant endedAt,
      @Nullable String endedReason,
      @Nullable String clientId,
      @Nullable String clientNamespace) {
    static PublicIdView of(Mapping mapping) {
      return of(mapping, mapping.key(), null, null, null);
    }

    /** With the client ID that the mint came with, so that the client can tell its own. */
    static PublicIdView minted(Mapping mapping, List<Alias> aliases) {
      Optional<Alias> client =
          aliases.stream().filter(alias -> alias.scheme() == AliasScheme.CLIENT).findFirst();
      return client.map(alias -> of(mapping).named(alias)).orElseGet(() -> of(mapping));
    }

    private PublicIdView named(Alias client) {
      return new PublicIdView(
          object,
          id,
          type,
          key,
          status,
          mergedInto,
          createdAt,
          endedAt,
          endedReason,
          client.value(),
          client.namespace().name().orElse(null));
    }

    static PublicIdView of(ResolveOutcome.Ended ended) {
      return switch (ended) {
        case ResolveOutcome.Revoked(Mapping mapping, Optional<String> reason, Instant at) ->
            of(mapping, mapping.key(), null, at, reason.orElse(null));
        case ResolveOutcome.Merged(Mapping mapping, Mapping survivor, Instant at) ->
            of(mapping, survivor.key(), survivor.publicId().toString(), at, null);
      };
    }

    private static PublicIdView of(
        Mapping mapping,
        Key key,
        @Nullable String mergedInto,
        @Nullable Instant endedAt,
        @Nullable String endedReason) {
      return new PublicIdView(
          "public_id",
          mapping.publicId().toString(),
          mapping.type().name(),
          key.text(),
          mapping.status().wireName(),
          mergedInto,
          mapping.createdAt(),
          endedAt,
          endedReason,
          null,
          null);
    }
  }

  /** A public ID that was found by an old number. */
  record LegacyIdView(@JsonUnwrapped PublicIdView publicId, String legacyId) {}

  /** Look-ups of old numbers of a type on one day in UTC. */
  record LegacyHitsView(String object, LocalDate day, long count) {
    static LegacyHitsView of(LegacyHits.DayCount hits) {
      return new LegacyHitsView("legacy_hits", hits.day(), hits.count());
    }
  }

  record TypeView(
      String object,
      String name,
      String prefix,
      String keyScheme,
      String keyLayout,
      @Nullable RedirectView redirect,
      @Nullable LegacyView legacy,
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
          type.publicPattern().map(PublicPattern::toString).orElse(null),
          type.clientNames().wireName(),
          type.outage().onOutage().wireName(),
          type.outage().staleSecondsMax(),
          type.createdAt(),
          type.updatedAt(),
          type.version());
    }
  }

  record RedirectView(
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

  record LegacyView(
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

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record ListView<T>(String object, List<T> data, @Nullable Boolean hasMore) {
    static <T> ListView<T> of(List<T> data) {
      return new ListView<>("list", data, null);
    }

    static <T> ListView<T> page(List<T> data, boolean hasMore) {
      return new ListView<>("list", data, hasMore);
    }
  }

  /** One item's outcome: a public ID or an error, never both. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record ItemView(
      int index, int status, @Nullable PublicIdView publicId, Problem.@Nullable Brief error) {
    static ItemView found(int index, int status, Mapping mapping) {
      return new ItemView(index, status, PublicIdView.of(mapping), null);
    }

    static ItemView minted(int index, int status, PublicIdView publicId) {
      return new ItemView(index, status, publicId, null);
    }

    static ItemView ended(int index, ResolveOutcome.Ended ended) {
      return new ItemView(index, 200, PublicIdView.of(ended), null);
    }

    static ItemView refused(int index, Problem problem) {
      return new ItemView(index, problem.code().status(), null, problem.brief());
    }
  }
}

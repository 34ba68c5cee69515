package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A public ID in an answer. Keys are strings, because a double holds only 53 bits. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PublicIdView(
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
  public static PublicIdView of(Mapping mapping) {
    return of(mapping, mapping.key(), null, null, null, Optional.empty());
  }

  /** With the client ID of the mint, so that the client can find its own item. */
  static PublicIdView minted(Mapping mapping, List<Alias> aliases) {
    Optional<Alias> client =
        aliases.stream().filter(alias -> alias.scheme() == AliasScheme.CLIENT).findFirst();
    return of(mapping, mapping.key(), null, null, null, client);
  }

  public static PublicIdView of(ResolveOutcome.Ended ended) {
    return switch (ended) {
      case ResolveOutcome.Revoked(Mapping mapping, Optional<String> reason, Instant at) ->
          of(mapping, mapping.key(), null, at, reason.orElse(null), Optional.empty());
      case ResolveOutcome.Merged(Mapping mapping, Mapping survivor, Instant at) ->
          of(mapping, survivor.key(), survivor.publicId().toString(), at, null, Optional.empty());
    };
  }

  private static PublicIdView of(
      Mapping mapping,
      Key key,
      @Nullable String mergedInto,
      @Nullable Instant endedAt,
      @Nullable String endedReason,
      Optional<Alias> client) {
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
        client.map(Alias::value).orElse(null),
        client.flatMap(alias -> alias.namespace().name()).orElse(null));
  }
}

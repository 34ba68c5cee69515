package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A public ID in an answer. Keys are strings, because a double holds only 53 bits.
 *
 * @param legacyId if the request named or carried it, like the client ID
 * @param aliases if the request asked for them
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PublicIdView(
    String object,
    String id,
    String type,
    String key,
    String status,
    @Nullable String mergedInto,
    Instant createdAt,
    @Nullable String legacyId,
    @Nullable Instant endedAt,
    @Nullable String endedReason,
    @Nullable String clientId,
    @Nullable String clientNamespace,
    @Nullable ListView<AliasView> aliases) {
  public static PublicIdView of(Mapping mapping) {
    return of(mapping, mapping.key(), null, null, null);
  }

  public static PublicIdView of(ResolveOutcome.Ended ended) {
    return switch (ended) {
      case ResolveOutcome.Revoked(Mapping mapping, Optional<String> reason, Instant at) ->
          of(mapping, mapping.key(), null, at, reason.orElse(null));
      case ResolveOutcome.Merged(Mapping mapping, Mapping survivor, Instant at) ->
          of(mapping, survivor.key(), survivor.publicId().toString(), at, null);
    };
  }

  /** With the aliases by which the request names it, so that a client can find its own item. */
  public PublicIdView named(List<Alias> names) {
    Optional<Alias> client = of(names, AliasScheme.CLIENT);
    return with(
        of(names, AliasScheme.LEGACY).map(Alias::value).orElse(null),
        client.map(Alias::value).orElse(null),
        client.flatMap(alias -> alias.namespace().name()).orElse(null),
        aliases);
  }

  /** With all aliases that it has. */
  PublicIdView expanded(Aliases.Listed all) {
    return with(legacyId, clientId, clientNamespace, AliasView.list(all));
  }

  private PublicIdView with(
      @Nullable String legacyId,
      @Nullable String clientId,
      @Nullable String clientNamespace,
      @Nullable ListView<AliasView> aliases) {
    return new PublicIdView(
        object,
        id,
        type,
        key,
        status,
        mergedInto,
        createdAt,
        legacyId,
        endedAt,
        endedReason,
        clientId,
        clientNamespace,
        aliases);
  }

  private static Optional<Alias> of(List<Alias> names, AliasScheme scheme) {
    return names.stream().filter(name -> name.scheme() == scheme).findFirst();
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
        null,
        endedAt,
        endedReason,
        null,
        null,
        null);
  }
}

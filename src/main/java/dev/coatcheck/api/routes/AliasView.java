package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.Aliases;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An alias in an answer.
 *
 * @param clientNamespace the namespace of a client ID, if callers name it
 * @param clientPrincipal the principal that has the client ID for itself, in the list of aliases
 * @param publicId null in the list of its aliases
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AliasView(
    String object,
    String scheme,
    String value,
    @Nullable String clientNamespace,
    @Nullable String clientPrincipal,
    @Nullable PublicIdView publicId) {

  static AliasView of(Alias alias, PublicIdView publicId) {
    return of(alias, null, publicId.named(List.of(alias)));
  }

  static ListView<AliasView> list(Aliases.Listed listed) {
    return ListView.page(
        listed.aliases().stream()
            .map(alias -> of(alias, alias.namespace().principal().orElse(null), null))
            .toList(),
        listed.hasMore());
  }

  private static AliasView of(
      Alias alias, @Nullable String clientPrincipal, @Nullable PublicIdView publicId) {
    return new AliasView(
        "alias",
        alias.scheme().wireName(),
        alias.value(),
        alias.namespace().name().orElse(null),
        clientPrincipal,
        publicId);
  }
}

package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** Creates and changes types for callers, who may do so for some types only. */
public final class TypeChanges {
  private final Registry registry;
  private final Consumer<Type> prepareKeys;
  private final TypeBody bodies;

  /**
   * @param prepareKeys begins to lease what the first mint of a type needs
   */
  public TypeChanges(
      Registry registry,
      RedirectHosts redirectHosts,
      Consumer<Type> prepareKeys,
      InstantSource clock) {
    this.registry = registry;
    this.prepareKeys = prepareKeys;
    this.bodies = new TypeBody(redirectHosts, clock);
  }

  /**
   * What a body says about a type.
   *
   * @throws dev.coatcheck.core.json.JsonFault for what a type can't be
   */
  TypeDefinition definition(String name, JsonObject body) {
    return bodies.definition(name, body);
  }

  /**
   * What a form says about a type, all of whose fields it repeats. A field that stays as it is
   * isn't refused, for instance because its host is no longer listed.
   *
   * @param present empty for a new type
   * @throws dev.coatcheck.core.json.JsonFault for what a type can't be
   */
  public TypeDefinition definition(String name, Optional<Type> present, JsonObject body) {
    return bodies.definition(name, present, body);
  }

  /** The change that a JSON merge patch makes to a type. */
  Function<Optional<Type>, TypeDefinition> patch(JsonObject patch) {
    return present ->
        bodies.patched(
            present.orElseThrow(() -> new Refusal(Parameters.typeUnknown("name"))), patch);
  }

  /**
   * Puts a type as a change makes it.
   *
   * @param change from the type as it is, in the transaction of the put
   */
  public PutOutcome put(
      String name,
      Function<Optional<Type>, TypeDefinition> change,
      PutConditions conditions,
      Rights rights,
      Actor actor) {
    Parameters.requireAllowed(rights.allowedTypes(), name);
    PutOutcome outcome = registry.put(name, allowed(change, rights), conditions, actor);
    switch (outcome) {
      case PutOutcome.Created(Type type) -> prepareKeys.accept(type);
      case PutOutcome.Updated(Type type) -> prepareKeys.accept(type);
      case PutOutcome.Refused _, PutOutcome.VersionDiffers _, PutOutcome.LinksWouldDie _ -> {}
    }
    return outcome;
  }

  /** Why {@link #put} would be refused now; empty if it would be done. Changes nothing. */
  public Optional<PutOutcome> refusal(
      String name,
      Function<Optional<Type>, TypeDefinition> change,
      PutConditions conditions,
      Rights rights) {
    Parameters.requireAllowed(rights.allowedTypes(), name);
    return registry.refusal(name, allowed(change, rights), conditions);
  }

  /** The mints of a type draw from its segment, so it takes the rights to draw from it directly. */
  private static Function<Optional<Type>, TypeDefinition> allowed(
      Function<Optional<Type>, TypeDefinition> change, Rights rights) {
    return present -> {
      TypeDefinition definition = change.apply(present);
      if (definition.generation() instanceof KeyGeneration.Segment segment
          && present.map(Type::generation).filter(segment::equals).isEmpty()) {
        if (!rights.may(Scope.KEYS_WRITE)) {
          throw new Refusal(Endpoints.lacks(Scope.KEYS_WRITE));
        }
        RequestCaller.requireAllTypes(rights.allowedTypes());
      }
      return definition;
    };
  }

  /** The answer to a definition that contradicts the type itself or another one. */
  public static Problem problem(PutOutcome.Refused refused) {
    return Problem.named(refused.code(), refused.field(), refused.detail());
  }

  static Problem problem(PutOutcome.LinksWouldDie dying) {
    return new Problem(
        ProblemCode.LINKS_WOULD_DIE,
        "The change ends links that have a target today, and dying_links lists them."
            + " Nothing was changed. Send the request with confirm=links to end them.",
        new Problem.DyingLinks(
            dying.links().stream()
                .map(links -> new Problem.DyingLink(links.field(), links.detail()))
                .toList(),
            dying.legacyHits(),
            dying.liveIds(),
            dying.isExact()));
  }
}

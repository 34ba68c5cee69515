package dev.coatcheck.api.exchange;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Caller;
import io.javalin.http.Context;
import java.net.InetAddress;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The caller of a request on a secured route.
 *
 * @param now the caller with the rights that the key has at the time; empty if it would have no
 *     access any more. For an answer that lasts
 * @param address of the client
 */
public record RequestCaller(
    Caller caller, Supplier<Optional<Caller>> now, Supplier<InetAddress> address) {
  private static final String NAME = "caller";

  public void keep(Context ctx) {
    ctx.attribute(NAME, this);
  }

  public static RequestCaller of(Context ctx) {
    return requireNonNull(ctx.attribute(NAME));
  }

  public static String principal(Context ctx) {
    return of(ctx).caller().principal();
  }

  /** Whether the caller still has access, for the same types; for bodies and answers that last. */
  public boolean mayGoOn() {
    AllowedTypes allowed = caller.rights().allowedTypes();
    return now.get().filter(today -> today.rights().allowedTypes().equals(allowed)).isPresent();
  }

  /** The types that the caller may use. */
  public static AllowedTypes types(Context ctx) {
    return of(ctx).caller().rights().allowedTypes();
  }

  /**
   * Refuses a key for some types, on a route whose answer or effect is about all types.
   *
   * @throws Refusal if the key has a list of types
   */
  public static void requireAllTypes(Context ctx) {
    requireAllTypes(types(ctx));
  }

  /**
   * The same, for the types that a caller may use.
   *
   * @throws Refusal if they are not all
   */
  public static void requireAllTypes(AllowedTypes allowed) {
    if (!allowed.areAll()) {
      throw new Refusal(
          ProblemCode.TYPE_NOT_ALLOWED,
          "This call is not about single types, and the API key is for some types only.");
    }
  }

  /** The caller, for the audit. */
  public static Actor actor(Context ctx) {
    RequestCaller request = of(ctx);
    Caller caller = request.caller();
    return new Actor(
        caller.principal(),
        Optional.of(caller.keyId()),
        Optional.of(request.address().get().getHostAddress()),
        Optional.of(RequestId.of(ctx)));
  }
}

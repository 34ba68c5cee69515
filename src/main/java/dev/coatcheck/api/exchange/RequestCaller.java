package dev.coatcheck.api.exchange;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.Caller;
import io.javalin.http.Context;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The caller of a request on a secured route.
 *
 * @param isStillGranted whether the caller would have access now; for an answer that lasts
 */
public record RequestCaller(Caller caller, BooleanSupplier isStillGranted) {
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

  /** The caller, for the audit. */
  public static Actor actor(Context ctx) {
    Caller caller = of(ctx).caller();
    return new Actor(
        caller.principal(),
        Optional.of(caller.keyId()),
        Optional.of(ctx.req().getRemoteAddr()),
        Optional.of(RequestId.of(ctx)));
  }
}

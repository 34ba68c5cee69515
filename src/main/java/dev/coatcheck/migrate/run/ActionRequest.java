package dev.coatcheck.migrate.run;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import java.util.Optional;

/**
 * Who asks for something, and under which Idempotency-Key.
 *
 * @param by a principal, or the name of an instance
 * @param audited set for a caller; what an instance does by itself is not audited
 * @param once set if the request may be sent again under a key
 * @param <T> the outcome
 */
public record ActionRequest<T>(
    String by, Optional<Actor> audited, Optional<IdempotentCall<T>> once) {
  /** Of a caller. */
  public ActionRequest(Actor actor, Optional<IdempotentCall<T>> once) {
    this(actor.name(), Optional.of(actor), once);
  }

  /** Of an instance, which carries a run on. */
  public static <T> ActionRequest<T> by(String holder) {
    return new ActionRequest<>(holder, Optional.empty(), Optional.empty());
  }
}

package dev.coatcheck.migrate.run;

import dev.coatcheck.ids.idempotency.IdempotentCall;
import java.util.Optional;

/**
 * Who asks for something, and under which Idempotency-Key.
 *
 * @param actor a principal, or the name of an instance
 * @param once set if the request may be sent again under a key
 * @param <T> the outcome
 */
public record ActionRequest<T>(String actor, Optional<IdempotentCall<T>> once) {
  /** Without a key: each request counts. */
  public static <T> ActionRequest<T> by(String actor) {
    return new ActionRequest<>(actor, Optional.empty());
  }
}

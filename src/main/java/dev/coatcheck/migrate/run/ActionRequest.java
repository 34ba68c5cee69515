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
 * @param seen set if the action is refused once the run is in another state
 * @param <T> the outcome
 */
public record ActionRequest<T>(
    String by, Optional<Actor> audited, Optional<IdempotentCall<T>> once, Optional<Seen> seen) {
  /** The state in which the caller saw the run. */
  public record Seen(RunState state, Goal goal) {
    public static Seen of(TableMigration run) {
      return new Seen(run.status().state(), run.status().goal());
    }
  }

  /** Of a caller. */
  public ActionRequest(Actor actor, Optional<IdempotentCall<T>> once) {
    this(actor.name(), Optional.of(actor), once, Optional.empty());
  }

  /** Of an instance, which carries a run on. */
  public static <T> ActionRequest<T> by(String holder) {
    return new ActionRequest<>(holder, Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** The same in any state of the run, for what can't be refused any more. */
  ActionRequest<T> inAnyState() {
    return new ActionRequest<>(by, audited, once, Optional.empty());
  }

  /** Why nothing is done to a run that is no longer as the caller saw it. */
  Optional<ActionOutcome> refusal(TableMigration run) {
    Seen now = Seen.of(run);
    return seen.filter(state -> !state.equals(now))
        .map(
            _ ->
                new ActionOutcome.NotNow(
                    now.state(),
                    "It has changed since its page was loaded, so nothing was done. Look at the run"
                        + " again."));
  }

  /** The same, refused once the run is in another state. */
  public ActionRequest<T> ifStill(Seen state) {
    return new ActionRequest<>(by, audited, once, Optional.of(state));
  }
}

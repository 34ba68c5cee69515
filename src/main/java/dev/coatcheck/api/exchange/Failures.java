package dev.coatcheck.api.exchange;

import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.migrate.source.SourceUnregistered;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;

/** Maps the exception of a handler to a problem. */
public final class Failures {
  private final Observer observer;

  public Failures(Observer observer) {
    this.observer = observer;
  }

  /** An exception that is neither a refusal nor an outage is a bug, and is logged. */
  public Problem problem(Throwable thrown, String requestId) {
    return switch (thrown) {
      case Refusal refusal -> refusal.problem();
      case JsonFault fault -> Problem.of(fault);
      case DatabaseUnavailable _ ->
          Problem.unavailable(
              ProblemCode.DATABASE_UNAVAILABLE,
              "The database is not available now. Send the same request again.");
      case SealKeyMissing missing -> {
        observer.observe(new Event.SealKeyMissed(missing.fingerprint()));
        yield Problem.unavailable(
            ProblemCode.SEAL_KEY_MISSING,
            "This instance lacks a seal key of the type, which its log names. Another instance may"
                + " have it; add it to the file of COATCHECK_SEAL_KEYS_FILE here.");
      }
      case SourceUnregistered missing ->
          Problem.unavailable(
              ProblemCode.DATABASE_UNAVAILABLE, String.valueOf(missing.getMessage()));
      default -> {
        observer.observe(new Event.RequestFailed(requestId, thrown));
        yield Problem.of(
            ProblemCode.INTERNAL,
            "The gateway failed; its log has the details under the request ID. Send the request"
                + " again.");
      }
    };
  }
}

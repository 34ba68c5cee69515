package dev.coatcheck.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.db.DatabaseUnavailable;
import dev.coatcheck.observe.Event;
import dev.coatcheck.observe.Observer;
import io.javalin.http.Context;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Writes problems as {@code application/problem+json}, and knows which one an exception is. */
final class Problems {
  static final String CONTENT_TYPE = "application/problem+json";

  /** Errors of the kind that a cache would keep by itself: it must not. */
  private static final String NO_STORE = "no-store";

  private final Observer observer;

  Problems(Observer observer) {
    this.observer = observer;
  }

  /** A problem as it is sent. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record Body(
      String type,
      String title,
      int status,
      String detail,
      String code,
      @Nullable String param,
      @Nullable String reason,
      @Nullable Integer position,
      @Nullable List<Problem.ItemError> errors,
      String requestId) {}

  static byte[] body(Problem problem, String requestId) {
    ProblemCode code = problem.code();
    return Json.write(
        new Body(
            code.typeUri(),
            code.title(),
            code.status(),
            problem.detail(),
            code.wireName(),
            problem.param(),
            problem.reason(),
            problem.position(),
            problem.errors(),
            requestId));
  }

  void write(Context ctx, Problem problem) {
    ctx.status(problem.code().status());
    ctx.header("Cache-Control", NO_STORE);
    if (problem.code() == ProblemCode.UNAUTHENTICATED) {
      ctx.header("WWW-Authenticate", "Bearer realm=\"coatcheck\"");
    }
    if (problem.retryAfterSeconds() > 0) {
      ctx.header("Retry-After", Integer.toString(problem.retryAfterSeconds()));
    }
    ctx.contentType(CONTENT_TYPE).result(body(problem, Edge.requestId(ctx)));
  }

  /** The problem behind an exception that left a handler. */
  Problem of(Throwable thrown, String requestId) {
    return switch (thrown) {
      case Refusal refusal -> refusal.problem();
      case DatabaseUnavailable _ ->
          Problem.retryAfter(
              ProblemCode.DATABASE_UNAVAILABLE,
              "What needs the database can't be done now. Send the same request again.",
              jitteredSeconds());
      default -> {
        observer.observe(new Event.RequestFailed(requestId, thrown));
        yield Problem.of(
            ProblemCode.INTERNAL, "It is logged under the request ID. Send the request again.");
      }
    };
  }

  /** One to three seconds, so that those who were refused together don't come back together. */
  static int jitteredSeconds() {
    return ThreadLocalRandom.current().nextInt(1, 4);
  }
}

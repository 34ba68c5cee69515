package dev.coatcheck.api.server;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.inspect.Diagnostic;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import io.javalin.http.Context;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.jspecify.annotations.Nullable;

/** Writes problems as {@code application/problem+json}, and knows which one an exception is. */
public final class Problems {
  static final String CONTENT_TYPE = "application/problem+json";

  /** A cache would keep some errors by itself: it must not. */
  private static final HttpField NO_STORE = new HttpField(HttpHeader.CACHE_CONTROL, "no-store");

  private static final HttpField BEARER =
      new HttpField(HttpHeader.WWW_AUTHENTICATE, "Bearer realm=\"coatcheck\"");

  private final Observer observer;

  public Problems(Observer observer) {
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
      @Nullable Instant endedAt,
      @Nullable String endedReason,
      @Nullable List<Problem.ItemError> errors,
      @Nullable List<Diagnostic> refusals,
      @Nullable List<Diagnostic> preconditions,
      String requestId) {}

  public static Answer answer(Problem problem, String requestId) {
    List<HttpField> headers = new ArrayList<>(List.of(NO_STORE));
    if (problem.code() == ProblemCode.UNAUTHENTICATED) {
      headers.add(BEARER);
    }
    if (problem.retryAfterSeconds() > 0) {
      headers.add(
          new HttpField(HttpHeader.RETRY_AFTER, Integer.toString(problem.retryAfterSeconds())));
    }
    return new Answer(
        problem.code().status(), CONTENT_TYPE, headers, Json.write(body(problem, requestId)));
  }

  /** A problem in one line of ASCII, for a header; its texts are all ASCII. */
  public static String line(Problem problem, String requestId) {
    return new String(Json.write(body(problem, requestId)), StandardCharsets.US_ASCII);
  }

  private static Body body(Problem problem, String requestId) {
    ProblemCode code = problem.code();
    return new Body(
        code.typeUri(),
        code.title(),
        code.status(),
        problem.detail(),
        code.wireName(),
        problem.param(),
        problem.reason(),
        problem.position(),
        problem.endedAt(),
        problem.endedReason(),
        problem.errors(),
        problem.refusals(),
        problem.preconditions(),
        requestId);
  }

  public void write(Context ctx, Problem problem) {
    answer(problem, RequestId.of(ctx)).send(ctx);
  }

  /** The problem behind an exception that left a handler. */
  public Problem of(Throwable thrown, String requestId) {
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
  public static int jitteredSeconds() {
    return ThreadLocalRandom.current().nextInt(1, 4);
  }
}

package dev.coatcheck.client;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call failed: the gateway refused it, or no gateway answered within the deadline. What the
 * gateway knows for certain about an ID (unknown, revoked) is a result and no exception.
 */
public final class CoatcheckException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Problem problem;
  private final transient @Nullable GatewayAnswer answer;

  CoatcheckException(Problem problem, @Nullable Throwable cause) {
    super(message(problem), cause);
    this.problem = problem;
    answer = null;
  }

  CoatcheckException(GatewayAnswer answer) {
    super(message(Problem.of(answer)));
    problem = Problem.of(answer);
    this.answer = answer;
  }

  /**
   * What went wrong.
   *
   * @return with the status, the code, and when to try again
   */
  public Problem problem() {
    return problem;
  }

  /**
   * The HTTP status.
   *
   * @return 400 to 599, or 0 if no gateway answered
   */
  public int status() {
    return problem.status();
  }

  /**
   * What to branch on.
   *
   * @return a code as in {@link Problem#code}
   */
  public String code() {
    return problem.code();
  }

  /**
   * The ID of the request, for the operators of the gateway.
   *
   * @return empty if no gateway answered
   */
  public Optional<String> requestId() {
    return problem.requestId();
  }

  /**
   * The whole answer, with the fields of a problem that {@link Problem} has not.
   *
   * @return empty if no gateway answered
   */
  public Optional<GatewayAnswer> answer() {
    return Optional.ofNullable(answer);
  }

  private static String message(Problem problem) {
    return (problem.status() == 0 ? "" : problem.status() + " ")
        + problem.code()
        + ": "
        + problem.detail()
        + problem.requestId().map(id -> " [" + id + "]").orElse("");
  }
}

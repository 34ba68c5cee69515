package dev.coatcheck.http;

/**
 * Ends a handler early because the request can't be understood. Only parsing throws it, and only
 * {@link Edge} catches it; what a verb decides comes back as a value.
 */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  Refusal(Problem problem) {
    super(problem.detail(), null, false, false);
    this.problem = problem;
  }

  Problem problem() {
    return problem;
  }
}

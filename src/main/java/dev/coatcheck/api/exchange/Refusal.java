package dev.coatcheck.api.exchange;

/**
 * Ends a handler early because the request can't be parsed. Only parsing throws it, and only the
 * server catches it. A verb returns its outcome as a value.
 */
public final class Refusal extends RuntimeException {
  private final transient Problem problem;

  public Refusal(Problem problem) {
    super(problem.detail(), null, false, false);
    this.problem = problem;
  }

  public Refusal(ProblemCode code, String detail) {
    this(Problem.of(code, detail));
  }

  /**
   * @param param the wrong field, parameter or header
   */
  public Refusal(ProblemCode code, String param, String detail) {
    this(Problem.at(code, param, detail));
  }

  /** For a parameter of the path or the query. */
  public static Refusal ofParameter(String name, String detail) {
    return new Refusal(ProblemCode.PARAMETER_INVALID, name, detail);
  }

  public Problem problem() {
    return problem;
  }
}

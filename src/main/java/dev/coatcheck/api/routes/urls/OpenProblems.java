package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;

/**
 * The problems of paths that need no API key. An ID that is unknown, private or malformed gets one
 * and the same answer, so that an outsider can't tell which it is.
 */
final class OpenProblems {
  private OpenProblems() {}

  static Problem notFound() {
    return Problem.of(ProblemCode.NOT_FOUND, "No page is behind this link.");
  }

  /** The public ID was revoked: a visitor who has it was once given it. */
  static Problem gone() {
    return Problem.of(ProblemCode.PUBLIC_ID_REVOKED, "The page behind this link is gone.");
  }
}

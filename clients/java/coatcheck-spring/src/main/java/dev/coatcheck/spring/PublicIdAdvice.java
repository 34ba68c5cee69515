package dev.coatcheck.spring;

import dev.coatcheck.client.CoatcheckException;
import dev.coatcheck.id.InvalidPublicIdException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers requests whose public IDs are wrong with problems. An exception handler of the
 * application for the same exceptions comes first if its advice has an order before this one's.
 */
@RestControllerAdvice
@Order(PublicIdAdvice.ORDER)
public final class PublicIdAdvice {
  /** Before Spring Boot's own advice (0), which answers the exceptions around ours. */
  static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 1000;

  private static final Log LOG = LogFactory.getLog(PublicIdAdvice.class);

  private final Problems problems;

  PublicIdAdvice(Problems problems) {
    this.problems = problems;
  }

  /**
   * Answers with 400, or 404 for another type if the settings say so.
   *
   * @param invalid also the cause of another exception, such as that of unreadable JSON
   * @return a problem
   */
  @ExceptionHandler
  ProblemDetail invalid(InvalidPublicIdException invalid) {
    return problems.of(invalid);
  }

  /**
   * Answers with 404 or 410, or with 503 for an item of a batch that may succeed later.
   *
   * @param problem also the cause of another exception
   * @return a problem
   */
  @ExceptionHandler
  ResponseEntity<ProblemDetail> unknownOrEnded(PublicIdProblemException problem) {
    return ResponseEntity.status(problem.getStatusCode())
        .headers(problem.getHeaders())
        .body(problem.getBody());
  }

  /**
   * Answers with 503 and {@code Retry-After}, or with 500 if trying again does not help.
   *
   * @param failed also the cause of another exception
   * @return a problem
   */
  @ExceptionHandler
  ResponseEntity<ProblemDetail> failed(CoatcheckException failed) {
    LOG.warn("A call of the gateway failed: " + failed.getMessage());
    ProblemDetail problem = Problems.of(failed);
    var answer = ResponseEntity.status(problem.getStatus());
    if (problem.getStatus() == HttpStatus.SERVICE_UNAVAILABLE.value()) {
      long seconds = failed.problem().retryAfter().map(wait -> wait.toSeconds()).orElse(1L);
      answer.header(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(1, seconds)));
    }
    return answer.body(problem);
  }
}

package dev.coatcheck.spring;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * A request names a public ID that is unknown (404) or ended (410). Spring answers it with its
 * {@link ProblemDetail}, which has a {@code code} as the gateway's problems have.
 */
public final class PublicIdProblemException extends ErrorResponseException {
  private static final long serialVersionUID = 1;

  PublicIdProblemException(HttpStatus status, String code, String detail) {
    super(status, Problems.of(status, code, detail), null);
  }
}

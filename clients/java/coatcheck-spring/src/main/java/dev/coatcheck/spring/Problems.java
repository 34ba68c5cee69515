package dev.coatcheck.spring;

import dev.coatcheck.client.CoatcheckException;
import dev.coatcheck.client.Problem;
import dev.coatcheck.client.Resolution;
import dev.coatcheck.id.InvalidPublicIdException;
import dev.coatcheck.id.ParsedPublicId;
import java.net.URI;
import java.util.Locale;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/** What is answered to requests whose public IDs are wrong. */
final class Problems {
  private static final String UNAVAILABLE =
      "Public IDs can't be resolved at the moment. Send the same request again later.";

  private final CoatcheckProperties.WrongType wrongType;

  Problems(CoatcheckProperties.WrongType wrongType) {
    this.wrongType = wrongType;
  }

  static ProblemDetail of(HttpStatus status, String code, String detail) {
    ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
    problem.setType(URI.create("urn:coatcheck:" + code));
    problem.setTitle(title(code));
    problem.setProperty("code", code);
    return problem;
  }

  /** For a text that is not a public ID of the expected type. */
  ProblemDetail of(InvalidPublicIdException invalid) {
    if (invalid.result() instanceof ParsedPublicId.WrongType<?>) {
      return wrongType == CoatcheckProperties.WrongType.NOT_FOUND
          ? unknown().getBody()
          : of(
              HttpStatus.BAD_REQUEST, "public_id_wrong_type", String.valueOf(invalid.getMessage()));
    }
    ProblemDetail problem =
        of(HttpStatus.BAD_REQUEST, "public_id_malformed", String.valueOf(invalid.getMessage()));
    if (invalid.result() instanceof ParsedPublicId.Malformed<?> malformed) {
      problem.setProperty("reason", malformed.reason().name().toLowerCase(Locale.ROOT));
      problem.setProperty("position", malformed.position());
    }
    return problem;
  }

  /** For a gateway that refused a call, or did not answer it. */
  static ProblemDetail of(CoatcheckException failed) {
    Problem problem = failed.problem();
    if (problem.isTemporary()) {
      return of(HttpStatus.SERVICE_UNAVAILABLE, "public_ids_unavailable", UNAVAILABLE);
    }
    if (problem.status() == HttpStatus.GONE.value()) { // legacy IDs in a brownout
      return of(HttpStatus.GONE, problem.code(), problem.detail());
    }
    return of(
        HttpStatus.INTERNAL_SERVER_ERROR,
        "internal",
        "The application can't use its gateway of public IDs. Its log says why.");
  }

  /** For an item of a batch that may succeed later. */
  static PublicIdProblemException unavailable(Problem temporary) {
    PublicIdProblemException failed =
        new PublicIdProblemException(
            HttpStatus.SERVICE_UNAVAILABLE, "public_ids_unavailable", UNAVAILABLE);
    long seconds = temporary.retryAfter().map(wait -> wait.toSeconds()).orElse(1L);
    failed.getHeaders().set(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(1, seconds)));
    return failed;
  }

  static PublicIdProblemException unknown() {
    return new PublicIdProblemException(
        HttpStatus.NOT_FOUND, "public_id_unknown", "There is no such public ID.");
  }

  static PublicIdProblemException ended(Resolution.Revoked<?> revoked) {
    return new PublicIdProblemException(
        HttpStatus.GONE,
        revoked.isErased() ? "public_id_erased" : "public_id_revoked",
        "This public ID ended for good.");
  }

  private static String title(String code) {
    return switch (code) {
      case "public_id_wrong_type" -> "Public ID of another type";
      case "public_id_malformed" -> "Malformed public ID";
      case "public_id_unknown" -> "Unknown public ID";
      case "public_id_revoked" -> "Revoked public ID";
      case "public_id_erased" -> "Erased public ID";
      case "legacy_brownout_gone" -> "Legacy IDs paused";
      case "public_ids_unavailable" -> "Public IDs unavailable";
      default -> "Internal error";
    };
  }
}

package dev.coatcheck.ids.idempotency;

/** A response that is stored, so that a repeated request gets it byte for byte. */
public record StoredResponse(int status, String body) {
  /** Whether the response is final. After any other response, a repeated request is tried again. */
  public boolean isKept() {
    return status < 300 || status == 409 || status == 410 || status == 422;
  }
}

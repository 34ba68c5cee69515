package dev.coatcheck.ids.idempotency;

/** An answer that is kept, so that the same request gets it again byte for byte. */
public record StoredResponse(int status, String body) {
  /** Whether the answer settles the request; after another one the same request is tried anew. */
  public boolean isKept() {
    return status < 300 || status == 409 || status == 410 || status == 422;
  }
}

package dev.coatcheck.ids.idempotency;

import java.util.Set;

/**
 * A response that is stored, so that a repeated request gets it byte for byte.
 *
 * @param erased public IDs in the body that were erased since: what names them is not shown again
 * @param mayChange whether another instance may answer differently, for example by its clock
 */
public record StoredResponse(int status, String body, Set<String> erased, boolean mayChange) {
  public StoredResponse {
    erased = Set.copyOf(erased);
  }

  public StoredResponse(int status, String body) {
    this(status, body, Set.of(), false);
  }

  /** The same answer, for this request only. */
  public StoredResponse changeable() {
    return new StoredResponse(status, body, erased, true);
  }

  /** Whether the response is final. After any other response, a repeated request is tried again. */
  public boolean isKept() {
    return !mayChange && (status < 300 || status == 409 || status == 410 || status == 422);
  }
}

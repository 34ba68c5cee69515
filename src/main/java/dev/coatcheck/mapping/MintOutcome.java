package dev.coatcheck.mapping;

import java.util.List;

/** What became of a mint. */
public sealed interface MintOutcome {

  /** All of them, in the order of the requests; committed. */
  record Minted(List<Ticket> tickets) implements MintOutcome {
    public Minted {
      tickets = List.copyOf(tickets);
    }
  }

  /** No keys can be generated now; nothing was done. */
  record KeysUnavailable(String reason, long retryAfterMillis) implements MintOutcome {}

  /**
   * One public ID.
   *
   * @param created false if the (type, key) had it before
   */
  record Ticket(Mapping mapping, boolean created) {}
}

package dev.coatcheck.api.routes;

import java.util.HashMap;
import java.util.Map;

/**
 * How many transfers of a kind may be under way. One principal never holds all permits, so that
 * nobody keeps all others waiting.
 */
final class TransferPermits {
  private final int transfersMax;
  private final int ofOneMax;
  private final Map<String, Integer> held = new HashMap<>();

  TransferPermits(int transfersMax, int ofOneMax) {
    this.transfersMax = transfersMax;
    this.ofOneMax = ofOneMax;
  }

  /** Takes one, if there is one for this principal. */
  synchronized boolean take(String principal) {
    int all = held.values().stream().mapToInt(Integer::intValue).sum();
    if (all >= transfersMax || held.getOrDefault(principal, 0) >= ofOneMax) {
      return false;
    }
    held.merge(principal, 1, Integer::sum);
    return true;
  }

  synchronized void giveBack(String principal) {
    held.computeIfPresent(principal, (_, count) -> count == 1 ? null : count - 1);
  }
}

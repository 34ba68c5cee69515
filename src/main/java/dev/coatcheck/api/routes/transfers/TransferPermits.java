package dev.coatcheck.api.routes.transfers;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Handler;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Limits the transfers of a kind that are under way. No principal holds all permits, so no
 * principal keeps all others waiting.
 */
public final class TransferPermits {
  private final int transfersMax;
  private final int ofOneMax;
  private final Observer observer;
  private final Map<String, Integer> held = new HashMap<>();

  public TransferPermits(int transfersMax, int ofOneMax, Observer observer) {
    this.transfersMax = transfersMax;
    this.ofOneMax = ofOneMax;
    this.observer = observer;
  }

  /**
   * Has requests answered that get a permit.
   *
   * @param most tells the others how many there are
   */
  public Handler around(String path, String most, Handler handler) {
    return ctx -> answer(path, most, RequestCaller.principal(ctx), () -> handler.answer(ctx));
  }

  /**
   * Has a request of a principal answered, if it gets a permit.
   *
   * @throws Refusal if there is none
   */
  public Answer answer(String path, String most, String principal, Callable<Answer> work)
      throws Exception {
    if (!take(principal)) {
      observer.observe(new Event.RequestShed(path));
      throw new Refusal(
          Problem.unavailable(ProblemCode.OVERLOADED, most + " Send the request again."));
    }
    try {
      return work.call();
    } finally {
      giveBack(principal);
    }
  }

  private synchronized boolean take(String principal) {
    int all = held.values().stream().mapToInt(Integer::intValue).sum();
    if (all >= transfersMax || held.getOrDefault(principal, 0) >= ofOneMax) {
      return false;
    }
    held.merge(principal, 1, Integer::sum);
    return true;
  }

  private synchronized void giveBack(String principal) {
    held.computeIfPresent(principal, (_, count) -> count == 1 ? null : count - 1);
  }
}

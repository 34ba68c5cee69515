package dev.coatcheck.api.body;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Handler;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import io.javalin.http.Context;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Limits the transfers or streams of a kind that are under way. No owner holds all permits, so no
 * owner keeps all others waiting.
 */
public final class SharedPermits {
  private final int most;
  private final int ofOneMost;
  private final String limits;
  private final Observer observer;
  private final Map<String, Integer> held = new HashMap<>();

  /**
   * @param most how many there are
   * @param ofOneMost how many of them one owner can hold
   * @param limits a sentence with these numbers, for a client that gets no permit
   */
  public SharedPermits(int most, int ofOneMost, String limits, Observer observer) {
    this.most = most;
    this.ofOneMost = ofOneMost;
    this.limits = limits;
    this.observer = observer;
  }

  /** Has requests answered whose principals get a permit. */
  public Handler around(Handler handler) {
    return ctx -> answer(ctx, RequestCaller.principal(ctx), () -> handler.answer(ctx));
  }

  /**
   * Has a request answered, if its owner gets a permit.
   *
   * @throws Refusal if there is none
   */
  public Answer answer(Context ctx, String owner, Callable<Answer> work) throws Exception {
    if (!take(owner)) {
      throw shed(ctx);
    }
    try {
      return work.call();
    } finally {
      giveBack(owner);
    }
  }

  Refusal shed(Context ctx) {
    observer.observe(new Event.RequestShed(ctx.endpoint().path));
    return new Refusal(
        Problem.unavailable(ProblemCode.OVERLOADED, limits + " Send the request again."));
  }

  synchronized boolean take(String owner) {
    int all = held.values().stream().mapToInt(Integer::intValue).sum();
    if (all >= most || held.getOrDefault(owner, 0) >= ofOneMost) {
      return false;
    }
    held.merge(owner, 1, Integer::sum);
    return true;
  }

  synchronized void giveBack(String owner) {
    held.computeIfPresent(owner, (_, count) -> count == 1 ? null : count - 1);
  }
}

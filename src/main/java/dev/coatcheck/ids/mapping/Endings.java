package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.mapping.EndOutcome.Side;
import dev.coatcheck.ids.mapping.EndingPlan.Ref;
import dev.coatcheck.ids.mapping.EndingPlan.Step;
import dev.coatcheck.ids.mapping.Naming.Named;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Ends public IDs for good: revokes them, or merges them into a survivor. Ending one again in the
 * same way changes nothing. Every instance hears of it through the change feed.
 */
public final class Endings {
  public static final int REQUESTS_MAX = 1_000;

  private final EndingStore store;
  private final Resolver resolver;

  Endings(EndingStore store, Resolver resolver) {
    this.store = store;
    this.resolver = resolver;
  }

  /** One public ID to end. */
  public sealed interface Request {
    /** A revocation. The reason is for authenticated callers only; the first one stays. */
    record Revoke(String id, Optional<String> reason) implements Request {}

    record Merge(String id, String into) implements Request {}
  }

  /** What to do if some of the requests are refused. */
  public enum Mode {
    /** Each for itself. */
    EACH,
    /** All or none. */
    ALL_OR_NONE,
    /** None, whatever the others are: only say what would be refused. */
    NONE
  }

  public EndOutcome end(Request request, String by) {
    return endAll(List.of(request), Mode.EACH, by).getFirst();
  }

  /**
   * Ends all in one transaction, one after the other, and answers in their order. The answer is
   * given after the commit.
   *
   * @param requests 1 to {@value #REQUESTS_MAX}
   * @param by a principal
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; ending them
   *     again settles it
   */
  public List<EndOutcome> endAll(List<Request> requests, Mode mode, String by) {
    if (requests.isEmpty() || requests.size() > REQUESTS_MAX) {
      throw new IllegalArgumentException("requests: " + requests.size());
    }
    List<Parsed> parsed = requests.stream().map(this::parse).toList();
    List<Step> steps = new ArrayList<>();
    for (Parsed each : parsed) {
      if (each instanceof Parsed.Sound(Step step)) {
        steps.add(step);
      }
    }
    Predicate<List<EndOutcome>> write =
        switch (mode) {
          case EACH -> _ -> true;
          case ALL_OR_NONE ->
              outcomes ->
                  outcomes.size() == requests.size()
                      && outcomes.stream().allMatch(EndOutcome.Done.class::isInstance);
          case NONE -> _ -> false;
        };
    Iterator<EndOutcome> outcomes =
        steps.isEmpty() ? List.<EndOutcome>of().iterator() : store.end(steps, write, by).iterator();
    steps.forEach(step -> resolver.forget(step.id().token()));
    return parsed.stream()
        .map(
            each ->
                switch (each) {
                  case Parsed.Sound _ -> outcomes.next();
                  case Parsed.Refused(EndOutcome refused) -> refused;
                })
        .toList();
  }

  private sealed interface Parsed {
    record Sound(Step step) implements Parsed {}

    record Refused(EndOutcome outcome) implements Parsed {}
  }

  private Parsed parse(Request request) {
    return switch (request) {
      case Request.Revoke(String id, Optional<String> reason) ->
          parse(id, Side.ID, ref -> new Parsed.Sound(new Step.Revoke(ref, reason)));
      case Request.Merge(String id, String into) ->
          parse(
              id,
              Side.ID,
              ref ->
                  parse(
                      into,
                      Side.INTO,
                      survivor -> new Parsed.Sound(new Step.Merge(ref, survivor))));
    };
  }

  private Parsed parse(String text, Side side, Function<Ref, Parsed> then) {
    return switch (resolver.name(text)) {
      case Named.Refused(ResolveOutcome.Malformed malformed) ->
          new Parsed.Refused(new EndOutcome.Malformed(side, malformed));
      case Named.Refused(ResolveOutcome.Unknown _) ->
          new Parsed.Refused(new EndOutcome.Unknown(side));
      case Named.Wanted(Type type, Token token) -> then.apply(new Ref(type, token));
    };
  }
}

package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.core.json.JsonFault;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The items of a batch. Each is parsed by itself and answered at its index. */
public final class Items {
  private Items() {}

  /** An item after parsing: its content, or why it was refused. */
  public sealed interface Item<T> {
    record Sound<T>(T value) implements Item<T> {}

    record Refused<T>(Problem problem) implements Item<T> {}
  }

  /** The answer to an item, with the status of a single request for it. */
  public record Shown(int status, Object view) {}

  public static Item<Shown> shown(int status, Object view) {
    return new Item.Sound<>(new Shown(status, view));
  }

  /** The answer to a request of a single item. */
  public static Answer answer(Item<Shown> item) {
    return switch (item) {
      case Item.Sound<Shown>(Shown shown) -> Answer.json(shown.status(), shown.view());
      case Item.Refused<Shown>(Problem problem) -> Answer.of(problem);
    };
  }

  /** An item in the answer to a batch: with a public ID, a URL or an error, only one of them. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ItemView(
      int index,
      int status,
      @Nullable Object publicId,
      @Nullable Object resolvedUrl,
      Problem.@Nullable Brief error) {}

  /** Answers every item at its index, with public IDs. */
  public static Answer answer(List<Item<Shown>> items) {
    return answer(items, false);
  }

  /** Answers every item at its index. */
  public static Answer answer(List<Item<Shown>> items, boolean areUrls) {
    List<ItemView> views = new ArrayList<>(items.size());
    for (Item<Shown> item : items) {
      int index = views.size();
      views.add(
          switch (item) {
            case Item.Sound<Shown>(Shown shown) ->
                new ItemView(
                    index,
                    shown.status(),
                    areUrls ? null : shown.view(),
                    areUrls ? shown.view() : null,
                    null);
            case Item.Refused<Shown>(Problem problem) ->
                new ItemView(index, problem.code().status(), null, null, problem.brief());
          });
    }
    return Answer.json(200, ListView.of(views));
  }

  /** Makes the result of an item from its content, its index and its outcome. */
  interface Result<T, O> {
    Item<Shown> of(int index, T asked, O outcome);
  }

  /** The results of a batch; {@code outcomes} are those of its valid items, in order. */
  static <T, O> List<Item<Shown>> results(
      List<Item<T>> items, List<O> outcomes, Result<T, O> result) {
    Iterator<O> next = outcomes.iterator();
    List<Item<Shown>> results = new ArrayList<>(items.size());
    for (Item<T> item : items) {
      results.add(
          switch (item) {
            case Item.Sound<T>(T asked) -> result.of(results.size(), asked, next.next());
            case Item.Refused<T>(Problem problem) -> new Item.Refused<>(problem);
          });
    }
    return results;
  }

  static <T> Item<T> parse(Supplier<T> parser) {
    try {
      return new Item.Sound<>(parser.get());
    } catch (Refusal refusal) {
      return new Item.Refused<>(refusal.problem());
    } catch (JsonFault fault) {
      return new Item.Refused<>(Problem.of(fault));
    }
  }

  static <T> List<T> sound(List<Item<T>> items) {
    List<T> sound = new ArrayList<>();
    for (Item<T> item : items) {
      if (item instanceof Item.Sound<T>(T value)) {
        sound.add(value);
      }
    }
    return sound;
  }

  static <T> List<Problem.ItemError> errors(List<Item<T>> items) {
    List<Problem.ItemError> errors = new ArrayList<>();
    for (int index = 0; index < items.size(); index++) {
      if (items.get(index) instanceof Item.Refused<T>(Problem problem)) {
        errors.add(new Problem.ItemError(index, problem));
      }
    }
    return errors;
  }
}

package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The items of a batch: each is parsed by itself and answered at its index. */
final class Items {
  private Items() {}

  /** An item after parsing: what it asks for, or why it was refused. */
  sealed interface Item<T> {
    record Sound<T>(T value) implements Item<T> {}

    record Refused<T>(Problem problem) implements Item<T> {}
  }

  /** An item as it is answered: with a public ID or an error, never both. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record ItemView(
      int index, int status, @Nullable PublicIdView publicId, Problem.@Nullable Brief error) {
    static ItemView found(int index, int status, PublicIdView publicId) {
      return new ItemView(index, status, publicId, null);
    }

    static ItemView ended(int index, ResolveOutcome.Ended ended) {
      return found(index, 200, PublicIdView.of(ended));
    }

    static ItemView refused(int index, Problem problem) {
      return new ItemView(index, problem.code().status(), null, problem.brief());
    }
  }

  static <T> Item<T> parse(Supplier<T> parser) {
    try {
      return new Item.Sound<>(parser.get());
    } catch (Refusal refusal) {
      return new Item.Refused<>(refusal.problem());
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

  /** Answers every item at its index; {@code sound} is asked for the sound ones in order. */
  static <T> Answer answer(List<Item<T>> items, IntFunction<ItemView> sound) {
    List<ItemView> views = new ArrayList<>(items.size());
    for (int index = 0; index < items.size(); index++) {
      views.add(
          switch (items.get(index)) {
            case Item.Sound<T> _ -> sound.apply(index);
            case Item.Refused<T>(Problem problem) -> ItemView.refused(index, problem);
          });
    }
    return Answer.json(200, ListView.of(views));
  }
}

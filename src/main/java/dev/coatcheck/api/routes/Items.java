package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The items of a batch: each is parsed by itself and answered at its index. */
final class Items {
  private Items() {}

  /** An item after parsing: what it asks for, or why it was refused. */
  sealed interface Item<T> {
    record Sound<T>(T value) implements Item<T> {}

    record Refused<T>(Problem problem) implements Item<T> {}
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
  static <T> Answer answer(List<Item<T>> items, IntFunction<Views.ItemView> sound) {
    List<Views.ItemView> views = new ArrayList<>(items.size());
    for (int index = 0; index < items.size(); index++) {
      views.add(
          switch (items.get(index)) {
            case Item.Sound<T> _ -> sound.apply(index);
            case Item.Refused<T>(Problem problem) -> Views.ItemView.refused(index, problem);
          });
    }
    return Answer.json(200, Views.ListView.of(views));
  }
}

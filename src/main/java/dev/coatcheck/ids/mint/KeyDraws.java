package dev.coatcheck.ids.mint;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Gives keys to the things that come without one. */
final class KeyDraws {
  private final Function<Type, KeyGenerator> generators;
  private final Observer observer;

  KeyDraws(Function<Type, KeyGenerator> generators, Observer observer) {
    this.generators = generators;
    this.observer = observer;
  }

  /** Things that can have no key now. */
  record Refusal(List<MintPlan.MintTarget> things, MintOutcome.KeysUnavailable why) {
    /** Whether a thing was first wanted by one of these requests. */
    boolean concerns(int begin, int end) {
      return things.stream().anyMatch(thing -> thing.isFirstIn(begin, end));
    }
  }

  /** Draws for all that are without; one draw for each generator. */
  List<Refusal> drawFor(List<MintPlan.MintTarget> things) {
    Map<KeyGenerator, List<MintPlan.MintTarget>> wanting = new LinkedHashMap<>();
    for (MintPlan.MintTarget thing : things) {
      if (thing.generated) {
        wanting.computeIfAbsent(generators.apply(thing.type), _ -> new ArrayList<>()).add(thing);
      }
    }
    List<Refusal> refusals = new ArrayList<>();
    wanting.forEach(
        (generator, some) -> {
          switch (generator.next(some.size())) {
            case KeyDraw.Drawn(List<Key> keys) -> {
              for (int i = 0; i < some.size(); i++) {
                some.get(i).draw(keys.get(i));
              }
            }
            case KeyDraw.NoKeys why ->
                refusals.add(new Refusal(some, new MintOutcome.KeysUnavailable(why)));
          }
        });
    return refusals;
  }

  void wasTaken(Type type, Key key) {
    observer.observe(new Event.GeneratedKeyConflict(type.name(), key.text()));
  }
}

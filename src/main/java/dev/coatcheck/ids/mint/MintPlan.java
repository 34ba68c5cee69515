package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.Alias;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.NewMapping;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.Subject;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which requests of a transaction stand for the same thing, and what has to be written for them.
 * Knows nothing of SQL: what is in the database is told before, and what was written afterwards.
 */
final class MintPlan {
  private final Map<Alias, Thing> byAlias = new HashMap<>();
  private final Map<Subject, Thing> byKey = new HashMap<>();
  private final Map<Token, Thing> byToken = new HashMap<>();
  private final List<NewName> newNames = new ArrayList<>();
  private final List<Thing> newThings = new ArrayList<>();
  private final List<Place> places = new ArrayList<>();

  /** What is in the database of the names that were looked up. */
  record Known(Map<Alias, StoredMapping> byAlias, Map<Subject, StoredMapping> byKey) {
    static final Known NOTHING = new Known(Map.of(), Map.of());
  }

  /** An alias that is to be written. */
  record NewName(Alias alias, Thing thing) {}

  /** What one or several requests stand for: a row, or one that is to be written. */
  static final class Thing {
    final Type type;
    final boolean generated;
    private final int first;
    private @Nullable Key key;
    private @Nullable StoredMapping row;
    private @Nullable Token token;
    private boolean created;
    private boolean named;

    private Thing(MintRequest request, int first) {
      this.type = request.type();
      this.first = first;
      this.key = request.key().orElse(null);
      this.generated = key == null;
    }

    private Thing(Type type, StoredMapping row) {
      this.type = type;
      this.first = -1;
      this.row = row;
      this.key = row.key();
      this.generated = false;
    }

    Subject subject() {
      return Subject.of(type, requireNonNull(key));
    }

    int bucket() {
      return subject().bucket();
    }

    NewMapping mapping() {
      return new NewMapping(subject(), token());
    }

    Token token() {
      return row == null ? requireNonNull(token) : row.token();
    }

    /** Whether its names were looked up, so that a row that turns up now came in between. */
    boolean isLookedUp() {
      return named;
    }

    void draw(Key drawn) {
      key = drawn;
    }

    void willBe(Token drawn) {
      token = drawn;
    }

    void inserted(StoredMapping written) {
      row = written;
      created = true;
    }

    void wasThere(StoredMapping present) {
      row = present;
    }

    boolean isFirstIn(int begin, int end) {
      return first >= begin && first < end;
    }

    private boolean isOf(Subject subject) {
      return key != null && Subject.of(type, key).equals(subject);
    }
  }

  /** A request's thing, or why it has none. */
  private sealed interface Place {
    record At(Thing thing) implements Place {}

    record Refused(MintOutcome.Refused item) implements Place {}
  }

  private MintPlan() {}

  static MintPlan of(List<MintRequest> requests, Known known) {
    MintPlan plan = new MintPlan();
    for (MintRequest request : requests) {
      request.aliases().forEach(alias -> plan.know(request.type(), alias, known));
      request
          .subject()
          .ifPresent(
              subject -> {
                StoredMapping row = known.byKey().get(subject);
                if (row != null) {
                  plan.byKey.put(subject, plan.thing(request.type(), row));
                }
              });
    }
    requests.forEach(request -> plan.places.add(plan.place(plan.places.size(), request)));
    return plan;
  }

  /** Aliases to write. */
  List<NewName> newNames() {
    return Collections.unmodifiableList(newNames);
  }

  /** Rows to write, once those without a key got one. */
  List<Thing> newThings() {
    return Collections.unmodifiableList(newThings);
  }

  boolean refusesAny() {
    return places.stream().anyMatch(Place.Refused.class::isInstance);
  }

  /** Why a request was refused before anything was written. */
  Optional<MintOutcome.Refused> refusal(int request) {
    return places.get(request) instanceof Place.Refused(MintOutcome.Refused item)
        ? Optional.of(item)
        : Optional.empty();
  }

  /** Whether every thing of these requests is written, or was there. */
  boolean isDone(int begin, int end) {
    return places.subList(begin, end).stream()
        .allMatch(place -> !(place instanceof Place.At(Thing thing)) || thing.row != null);
  }

  /** What became of a request, after the write. */
  MintOutcome.Item item(int request) {
    return switch (places.get(request)) {
      case Place.Refused(MintOutcome.Refused item) -> item;
      case Place.At(Thing thing) -> {
        StoredMapping row = requireNonNull(thing.row);
        yield row.status() == Mapping.Status.ACTIVE
            ? new MintOutcome.Ticket(row.of(thing.type), thing.created && thing.first == request)
            : new MintOutcome.Ended();
      }
    };
  }

  private void know(Type type, Alias alias, Known known) {
    StoredMapping row = known.byAlias().get(alias);
    if (row != null) {
      byAlias.put(alias, thing(type, row));
    }
  }

  private Thing thing(Type type, StoredMapping row) {
    return byToken.computeIfAbsent(row.token(), _ -> new Thing(type, row));
  }

  private Place place(int index, MintRequest request) {
    Set<Thing> meant = Collections.newSetFromMap(new IdentityHashMap<>());
    Alias claimed = null;
    for (Alias alias : request.aliases()) {
      Thing named = byAlias.get(alias);
      if (named != null) {
        meant.add(named);
        claimed = alias;
      }
    }
    Subject subject = request.subject().orElse(null);
    Thing keyed = subject == null ? null : byKey.get(subject);
    if (keyed != null) {
      meant.add(keyed);
    }
    Thing thing = meant.isEmpty() ? start(index, request) : meant.iterator().next();
    if (claimed != null && (meant.size() > 1 || (subject != null && !thing.isOf(subject)))) {
      return new Place.Refused(new MintOutcome.AliasTaken(claimed.scheme()));
    }
    if (thing.row != null && thing.row.status() != Mapping.Status.ACTIVE) {
      return new Place.Refused(new MintOutcome.Ended());
    }
    join(request, subject, thing);
    return new Place.At(thing);
  }

  private Thing start(int index, MintRequest request) {
    Thing thing = new Thing(request, index);
    newThings.add(thing);
    return thing;
  }

  private void join(MintRequest request, @Nullable Subject subject, Thing thing) {
    if (subject != null) {
      byKey.putIfAbsent(subject, thing);
    }
    for (Alias alias : request.aliases()) {
      thing.named = true;
      if (byAlias.putIfAbsent(alias, thing) == null) {
        newNames.add(new NewName(alias, thing));
      }
    }
  }
}

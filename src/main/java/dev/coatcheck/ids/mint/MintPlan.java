package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.Alias;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.NewMapping;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
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
  private final Map<Alias, MintTarget> byAlias = new HashMap<>();
  private final Map<TypedKey, MintTarget> byKey = new HashMap<>();
  private final Map<Token, MintTarget> byToken = new HashMap<>();
  private final List<NewName> newNames = new ArrayList<>();
  private final List<MintTarget> newThings = new ArrayList<>();
  private final List<Entry> entries = new ArrayList<>();

  /** What is in the database of the names that were looked up. */
  record Known(Map<Alias, StoredMapping> byAlias, Map<TypedKey, StoredMapping> byKey) {
    static final Known NOTHING = new Known(Map.of(), Map.of());
  }

  /** An alias that is to be written. */
  record NewName(Alias alias, MintTarget thing) {}

  /** What one or several requests stand for: a row, or one that is to be written. */
  static final class MintTarget {
    final Type type;
    final boolean generated;
    private final int first;
    private @Nullable Key key;
    private @Nullable StoredMapping row;
    private @Nullable Token token;
    private boolean created;
    private boolean named;

    private MintTarget(MintRequest request, int first) {
      this.type = request.type();
      this.first = first;
      this.key = request.key().orElse(null);
      this.generated = key == null;
    }

    private MintTarget(Type type, StoredMapping row) {
      this.type = type;
      this.first = -1;
      this.row = row;
      this.key = row.key();
      this.generated = false;
    }

    TypedKey subject() {
      return TypedKey.of(type, requireNonNull(key));
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

    private boolean isOf(TypedKey subject) {
      return key != null && TypedKey.of(type, key).equals(subject);
    }
  }

  /** A request's thing, or why it has none. */
  private sealed interface Entry {
    record At(MintTarget thing) implements Entry {}

    record Refused(MintOutcome.Refused item) implements Entry {}
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
    requests.forEach(request -> plan.entries.add(plan.entry(plan.entries.size(), request)));
    return plan;
  }

  /** Aliases to write. */
  List<NewName> newNames() {
    return Collections.unmodifiableList(newNames);
  }

  /** Rows to write, once those without a key got one. */
  List<MintTarget> newThings() {
    return Collections.unmodifiableList(newThings);
  }

  boolean refusesAny() {
    return entries.stream().anyMatch(Entry.Refused.class::isInstance);
  }

  /** Why a request was refused before anything was written. */
  Optional<MintOutcome.Refused> refusal(int request) {
    return entries.get(request) instanceof Entry.Refused(MintOutcome.Refused item)
        ? Optional.of(item)
        : Optional.empty();
  }

  /** Whether every thing of these requests is written, or was there. */
  boolean isDone(int begin, int end) {
    return entries.subList(begin, end).stream()
        .allMatch(entry -> !(entry instanceof Entry.At(MintTarget thing)) || thing.row != null);
  }

  /** What became of a request, after the write. */
  MintOutcome.Item item(int request) {
    return switch (entries.get(request)) {
      case Entry.Refused(MintOutcome.Refused item) -> item;
      case Entry.At(MintTarget thing) -> {
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

  private MintTarget thing(Type type, StoredMapping row) {
    return byToken.computeIfAbsent(row.token(), _ -> new MintTarget(type, row));
  }

  private Entry entry(int index, MintRequest request) {
    Set<MintTarget> meant = Collections.newSetFromMap(new IdentityHashMap<>());
    Alias claimed = null;
    for (Alias alias : request.aliases()) {
      MintTarget named = byAlias.get(alias);
      if (named != null) {
        meant.add(named);
        claimed = alias;
      }
    }
    TypedKey subject = request.subject().orElse(null);
    MintTarget keyed = subject == null ? null : byKey.get(subject);
    if (keyed != null) {
      meant.add(keyed);
    }
    MintTarget thing = meant.isEmpty() ? start(index, request) : meant.iterator().next();
    if (claimed != null && (meant.size() > 1 || (subject != null && !thing.isOf(subject)))) {
      return new Entry.Refused(new MintOutcome.AliasTaken(claimed.scheme()));
    }
    if (thing.row != null && thing.row.status() != Mapping.Status.ACTIVE) {
      return new Entry.Refused(new MintOutcome.Ended());
    }
    join(request, subject, thing);
    return new Entry.At(thing);
  }

  private MintTarget start(int index, MintRequest request) {
    MintTarget thing = new MintTarget(request, index);
    newThings.add(thing);
    return thing;
  }

  private void join(MintRequest request, @Nullable TypedKey subject, MintTarget thing) {
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

package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which requests of a transaction stand for the same mapping, and what has to be written: for mints
 * and imports alike. Pure: the caller passes in the stored rows. The unique constraints decide, at
 * the insert, whether the plan holds.
 */
public final class MintPlan {
  private final KnownRows known;
  private final Map<Alias, MintTarget> byAlias = new HashMap<>();
  private final Map<TypedKey, MintTarget> byKey = new HashMap<>();
  private final IdentityHashMap<StoredMapping, MintTarget> byStored = new IdentityHashMap<>();
  private final Set<KnownRows.TableToken> newTokens = new HashSet<>();
  private final List<NewName> newNames = new ArrayList<>();
  private final List<MintTarget> newTargets = new ArrayList<>();

  /** An alias to write. */
  public record NewName(Alias alias, MintTarget target) {}

  /** Plans beside the rows that are stored. */
  public MintPlan(KnownRows known) {
    this.known = known;
  }

  /** A request's mapping, or why it has none. */
  public sealed interface Entry {
    /** A request's mapping is new if it isn't stored, and no request before stands for it. */
    record Sound(MintTarget target, boolean isNew) implements Entry {}

    record Refused(MintOutcome.Refused item) implements Entry {}

    /** The key has another public ID than the request brings, or that one has another key. */
    record TokenTaken() implements Entry {}
  }

  /** The rows to write, in the order of their requests. */
  public List<MintTarget> newTargets() {
    return Collections.unmodifiableList(newTargets);
  }

  /** The aliases to write, in the order of locks. */
  public List<NewName> newNames() {
    return newNames.stream().sorted((one, other) -> one.alias().compareTo(other.alias())).toList();
  }

  /** Writes nothing that only other calls want. */
  void keep(Set<MintTarget> wanted) {
    newTargets.retainAll(wanted);
    newNames.removeIf(name -> !wanted.contains(name.target()));
  }

  /** Finds the mapping of a request: stored, wanted by a request before it, or new. */
  public Entry add(MintRequest request) {
    TypedKey subject = request.subject().orElse(null);
    MintTarget target = subject == null ? null : keyed(request.type(), subject);
    Alias claimed = null;
    boolean contradicts = false;
    for (Alias alias : request.aliases()) {
      MintTarget named = named(request.type(), alias);
      if (named != null) {
        claimed = alias;
        contradicts |= target == null ? subject != null && !named.isOf(subject) : named != target;
        target = target == null ? named : target;
      }
    }
    if (claimed != null && contradicts) {
      return new Entry.Refused(new MintOutcome.AliasTaken(claimed.scheme()));
    }
    if (target != null && target.isStored() && !target.row().isActive()) {
      return new Entry.Refused(new MintOutcome.Ended());
    }
    Token token = request.token().orElse(null);
    if (token != null && isTaken(request.type(), token, target)) {
      return new Entry.TokenTaken();
    }
    boolean isNew = target == null;
    if (target == null) {
      target = newTarget(request, subject);
      if (subject != null) {
        byKey.put(subject, target);
      }
    }
    for (Alias alias : request.aliases()) {
      target.lookUp();
      if (known.of(alias) == null && byAlias.putIfAbsent(alias, target) == null) {
        newNames.add(new NewName(alias, target));
      }
    }
    return new Entry.Sound(target, isNew);
  }

  /** Takes a request for new without a look; at the insert a unique constraint may object. */
  public MintTarget addUnseen(MintRequest request) {
    MintTarget target = newTarget(request, request.subject().orElse(null));
    request.aliases().forEach(alias -> newNames.add(new NewName(alias, target)));
    return target;
  }

  private MintTarget newTarget(MintRequest request, @Nullable TypedKey subject) {
    MintTarget target = new MintTarget(request.type(), subject, request.token().orElse(null));
    newTargets.add(target);
    return target;
  }

  private @Nullable MintTarget keyed(Type type, TypedKey key) {
    StoredMapping row = known.of(key);
    return row == null ? byKey.get(key) : stored(type, row);
  }

  private @Nullable MintTarget named(Type type, Alias alias) {
    StoredMapping row = known.of(alias);
    return row == null ? byAlias.get(alias) : stored(type, row);
  }

  /** Known rows are one object for each row. */
  private MintTarget stored(Type type, StoredMapping row) {
    return byStored.computeIfAbsent(row, _ -> new MintTarget(type, row));
  }

  private boolean isTaken(Type type, Token token, @Nullable MintTarget target) {
    KnownRows.TableToken wanted = new KnownRows.TableToken(type.keyKind(), token);
    return target == null
        ? known.holds(wanted) || !newTokens.add(wanted)
        : !target.token().equals(token);
  }
}

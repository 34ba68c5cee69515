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
 * Decides which requests of a transaction share a mapping, and what to write, for mints and
 * imports. Pure: the caller passes in the stored rows. The unique constraints have the last word,
 * at the insert.
 */
public final class MintPlan {
  private final KnownRows known;
  private final Map<Alias, MintTarget> byAlias = new HashMap<>();
  private final Map<TypedKey, MintTarget> byKey = new HashMap<>();
  private final IdentityHashMap<StoredMapping, MintTarget> byStored = new IdentityHashMap<>();
  private final Set<KnownRows.TableToken> newTokens = new HashSet<>();
  private final List<NewName> newNames = new ArrayList<>();
  private final List<MintTarget> newTargets = new ArrayList<>();

  public record NewName(Alias alias, MintTarget target) {}

  public MintPlan(KnownRows known) {
    this.known = known;
  }

  /** A request's mapping, or why it has none. */
  public sealed interface Entry {
    /** The mapping is new if it is not stored and no earlier request asked for it. */
    record Sound(MintTarget target, boolean isNew) implements Entry {}

    record Refused(MintOutcome.Refused item) implements Entry {}

    /**
     * The key already has another public ID, or the public ID of the request already has another
     * key.
     */
    record TokenTaken() implements Entry {}
  }

  /** The mappings that are new, in the order of their requests. */
  public List<MintTarget> newTargets() {
    return Collections.unmodifiableList(newTargets);
  }

  /**
   * The rows to write, once the keys are known, in the order of their requests: all of them again
   * if a transaction that wrote some was rolled back.
   */
  List<MintTarget> newRows() {
    return newTargets.stream().filter(target -> !target.isSealed()).toList();
  }

  /** The aliases to write, in the order of locks. */
  public List<NewName> newNames() {
    return newNames.stream().sorted((one, other) -> one.alias().compareTo(other.alias())).toList();
  }

  /** The stored rows that get an alias. A sealed public ID has none that could be held. */
  public List<StoredMapping> namedRows() {
    return newNames.stream()
        .map(NewName::target)
        .filter(target -> target.isStored() && !target.isCreated() && !target.isSealed())
        .map(MintTarget::row)
        .distinct()
        .toList();
  }

  /** Drops what only other targets need. */
  void keep(Set<MintTarget> wanted) {
    newTargets.retainAll(wanted);
    newNames.removeIf(name -> !wanted.contains(name.target()));
  }

  /** Finds the mapping of a request: stored, asked for by an earlier request, or new. */
  public Entry add(MintRequest request) {
    if (request.aliases().stream().anyMatch(known::isErased)
        || request.token().filter(own -> known.isErased(request.type(), own)).isPresent()) {
      return new Entry.Refused(new MintOutcome.Erased());
    }
    for (Alias alias : request.aliases()) {
      if (known.isUnpinned(alias)) {
        return new Entry.Refused(new MintOutcome.AliasTaken(alias.scheme()));
      }
    }
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
      return new Entry.Refused(
          target.row().isErased() ? new MintOutcome.Erased() : new MintOutcome.Ended());
    }
    Token token = request.token().orElse(null);
    if (token != null && isTaken(request.type(), token, target)) {
      return new Entry.TokenTaken();
    }
    boolean isNew = target == null;
    if (isNew
        && request.type().isRetired()
        && request.key().filter(request.type()::isSealedBeforeRetirement).isEmpty()) {
      return new Entry.Refused(new MintOutcome.TypeRetired());
    }
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

  /** Treats a request as new without a look-up; a unique constraint may refuse it at the insert. */
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

  /** Each stored row is one object. */
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

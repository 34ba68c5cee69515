package dev.coatcheck.ids.mint;

import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.mapping.TypedToken;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which requests of a transaction stand for the same mapping, and what has to be written. Pure: the
 * caller passes in the stored rows.
 */
final class MintPlan {
  private final Map<Alias, MintTarget> byAlias = new HashMap<>();
  private final Map<TypedKey, MintTarget> byKey = new HashMap<>();
  private final Map<TypedToken, MintTarget> byStored = new HashMap<>();
  private final Map<Alias, MintTarget> newNames = new HashMap<>();
  private final List<MintTarget> newTargets = new ArrayList<>();

  /** The stored rows of the names that were looked up. */
  record Known(Map<Alias, StoredMapping> byAlias, Map<TypedKey, StoredMapping> byKey) {
    static final Known NOTHING = new Known(Map.of(), Map.of());
  }

  /** A request's mapping, or why it has none. */
  sealed interface Entry {
    /** A request is the first for its mapping if no request before it stands for the same. */
    record Sound(MintTarget target, boolean isFirst) implements Entry {}

    record Refused(MintOutcome.Refused item) implements Entry {}
  }

  /** The rows to write. */
  List<MintTarget> newTargets() {
    return List.copyOf(newTargets);
  }

  /** The aliases to write. */
  Map<Alias, MintTarget> newNames() {
    return Map.copyOf(newNames);
  }

  /** Writes nothing that only other calls want. */
  void keep(Set<MintTarget> wanted) {
    newTargets.retainAll(wanted);
    newNames.values().retainAll(wanted);
  }

  /** Takes what is stored of a request; all are known before the first is added. */
  void know(MintRequest request, Known known) {
    for (Alias alias : request.aliases()) {
      StoredMapping row = known.byAlias().get(alias);
      if (row != null) {
        byAlias.put(alias, stored(request, row));
      }
    }
    if (!known.byKey().isEmpty() && request.subject().isPresent()) {
      StoredMapping row = known.byKey().get(request.subject().get());
      if (row != null) {
        byKey.put(row.subject(), stored(request, row));
      }
    }
  }

  /** Finds the mapping of a request: stored, wanted by a request before it, or new. */
  Entry add(MintRequest request) {
    Set<MintTarget> meant = new LinkedHashSet<>();
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
    boolean isFirst = meant.isEmpty();
    MintTarget target = isFirst ? new MintTarget(request.type(), subject) : meant.iterator().next();
    if (claimed != null && (meant.size() > 1 || (subject != null && !target.isOf(subject)))) {
      return new Entry.Refused(new MintOutcome.AliasTaken(claimed.scheme()));
    }
    if (target.isStored() && !target.row().isActive()) {
      return new Entry.Refused(new MintOutcome.Ended());
    }
    if (isFirst) {
      newTargets.add(target);
    }
    if (subject != null) {
      byKey.putIfAbsent(subject, target);
    }
    for (Alias alias : request.aliases()) {
      target.lookUp();
      if (byAlias.putIfAbsent(alias, target) == null) {
        newNames.put(alias, target);
      }
    }
    return new Entry.Sound(target, isFirst);
  }

  private MintTarget stored(MintRequest request, StoredMapping row) {
    return byStored.computeIfAbsent(row.id(), _ -> new MintTarget(request.type(), row));
  }
}

package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Resolves public IDs of ours and of older systems, and legacy IDs. While a table migration fills
 * the type, a legacy ID without a mapping is looked for in the table. Counts the legacy IDs, and
 * the older public IDs that a rule decodes, that it finds.
 *
 * <p>Each look-up throws {@link dev.coatcheck.postgres.sql.DatabaseUnavailable} if Postgres has to
 * be asked and can't be.
 */
public final class IdResolver {
  private final IdParser parser;
  private final Resolver resolver;
  private final UnmappedRows rows;
  private final LegacyHits hits;
  private final Observer observer;

  public IdResolver(
      IdParser parser, Resolver resolver, UnmappedRows rows, LegacyHits hits, Observer observer) {
    this.parser = parser;
    this.resolver = resolver;
    this.rows = rows;
    this.hits = hits;
    this.observer = observer;
  }

  /** Resolves one text. */
  public ResolveOutcome resolve(String text, AllowedTypes allowed) {
    return switch (parser.parse(text, allowed)) {
      case IdText.OfRule(OlderId id) -> find(id);
      case IdText.OfRow row -> resolver.resolve(row);
    };
  }

  /** The legacy ID that a text carries, if it is an older public ID that a rule decodes. */
  public Optional<OlderId.LegacyId> legacyId(String text, AllowedTypes allowed) {
    return parser.parse(text, allowed) instanceof IdText.OfRule(OlderId.LegacyId id)
        ? Optional.of(id)
        : Optional.empty();
  }

  /**
   * Resolves texts, in their order, with at most one query per table, one for aliases and one for
   * keys; and as many again for older ones.
   */
  public List<ResolveOutcome> resolveAll(List<String> texts, AllowedTypes allowed) {
    return resolveParsed(texts.stream().map(text -> parser.parse(text, allowed)).toList());
  }

  /** As {@link #resolveAll}, for texts that were parsed before. */
  public List<ResolveOutcome> resolveParsed(List<IdText> texts) {
    List<OlderId> older = new ArrayList<>();
    List<IdText.OfRow> others = new ArrayList<>();
    for (IdText text : texts) {
      switch (text) {
        case IdText.OfRule(OlderId id) -> older.add(id);
        case IdText.OfRow row -> others.add(row);
      }
    }
    if (!older.isEmpty() && !others.isEmpty()) {
      NonBlockingAttempt
          .leave(); // what the first query found is counted before the second one waits
    }
    Iterator<ResolveOutcome> found = resolver.resolveAll(others).iterator();
    Iterator<ResolveOutcome> foundOlder = findAll(older).iterator();
    return texts.stream()
        .map(text -> (text instanceof IdText.OfRule ? foundOlder : found).next())
        .toList();
  }

  /** Finds an older ID regardless of the policy of its type. */
  public ResolveOutcome find(OlderId id) {
    ResolveOutcome outcome = resolved(id);
    if (isToBeFilled(id, outcome)) {
      NonBlockingAttempt.leave();
      if (isFilled(id)) {
        outcome = resolved(id);
      }
    }
    count(id.type(), outcome);
    return outcome;
  }

  private ResolveOutcome resolved(OlderId id) {
    return id instanceof OlderId.LegacyId legacyId
        ? resolver.resolveAlias(id.type(), legacyId.alias())
        : resolver.resolveOlder(List.of(id)).getFirst();
  }

  /**
   * As {@link #find}, for many, in their order; with as many queries again if rows of a table
   * migration are found. Each ID counts as often as it is asked for.
   */
  public List<ResolveOutcome> findAll(List<? extends OlderId> ids) {
    if (ids.size() == 1) {
      return List.of(find(ids.getFirst()));
    }
    List<ResolveOutcome> outcomes = resolver.resolveOlder(ids);
    Map<OlderId, ResolveOutcome> filled = new LinkedHashMap<>();
    for (int i = 0; i < ids.size(); i++) {
      if (isToBeFilled(ids.get(i), outcomes.get(i))) {
        filled.put(ids.get(i), outcomes.get(i));
      }
    }
    filled.keySet().removeIf(id -> !isFilled(id));
    if (!filled.isEmpty()) {
      List<OlderId> wanted = List.copyOf(filled.keySet());
      Iterator<ResolveOutcome> found = resolver.resolveOlder(wanted).iterator();
      wanted.forEach(id -> filled.put(id, found.next()));
    }
    List<ResolveOutcome> all = new ArrayList<>(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      ResolveOutcome outcome =
          filled.isEmpty() ? outcomes.get(i) : filled.getOrDefault(ids.get(i), outcomes.get(i));
      count(ids.get(i).type(), outcome);
      all.add(outcome);
    }
    return all;
  }

  /** Whether a table migration still assigns legacy IDs, so that none is too high. */
  boolean isGrowing(Type type) {
    return rows.mayHave(type.number());
  }

  private boolean isToBeFilled(OlderId id, ResolveOutcome outcome) {
    return id instanceof OlderId.LegacyId
        && outcome instanceof ResolveOutcome.Unknown
        && rows.mayHave(id.type().number());
  }

  private boolean isFilled(OlderId id) {
    return id instanceof OlderId.LegacyId(Type type, long number)
        && rows.fillOnDemand(type, number);
  }

  private void count(Type type, ResolveOutcome outcome) {
    boolean found =
        outcome instanceof ResolveOutcome.Found || outcome instanceof ResolveOutcome.Merged;
    if (found) {
      hits.count(type);
    }
    observer.observe(new Event.LegacyAnswered(type.name(), found ? "found" : "not found"));
  }
}

package dev.coatcheck.ids.redirect;

import static java.util.Objects.requireNonNull;

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
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Resolves public IDs of ours and of older systems, and legacy IDs. While a table migration fills
 * the type, a legacy ID without a mapping is looked for in the table. Counts the legacy IDs, and
 * the older public IDs that a rule decodes, that it finds, and their callers; and refuses them in a
 * brownout of their type.
 *
 * <p>Each look-up throws {@link dev.coatcheck.postgres.sql.DatabaseUnavailable} if Postgres has to
 * be asked and can't be.
 */
public final class IdResolver {
  private final IdParser parser;
  private final Resolver resolver;
  private final UnmappedRows rows;
  private final LegacyHits hits;
  private final LegacyCallers callers;
  private final Observer observer;
  private final InstantSource clock;
  private final boolean counts;

  /**
   * @param counts false for trials, which count neither legacy hits nor their callers
   */
  public IdResolver(
      IdParser parser,
      Resolver resolver,
      UnmappedRows rows,
      LegacyHits hits,
      LegacyCallers callers,
      Observer observer,
      InstantSource clock,
      boolean counts) {
    this.parser = parser;
    this.resolver = resolver;
    this.rows = rows;
    this.hits = hits;
    this.callers = callers;
    this.observer = observer;
    this.clock = clock;
    this.counts = counts;
  }

  /** The same, for a trial: it counts neither legacy hits nor their callers. */
  public IdResolver uncounted() {
    return new IdResolver(parser, resolver, rows, hits, callers, observer, clock, false);
  }

  public IdOutcome resolve(String text, AllowedTypes allowed, LegacyCaller caller) {
    return switch (parser.parse(text, allowed)) {
      case IdText.OfRule(OlderId id) -> find(id, caller);
      case IdText.OfRow row -> new IdOutcome.Resolved(resolver.resolve(row));
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
  public List<IdOutcome> resolveAll(List<String> texts, AllowedTypes allowed, LegacyCaller caller) {
    return resolveParsed(texts.stream().map(text -> parser.parse(text, allowed)).toList(), caller);
  }

  /** As {@link #resolveAll}, for texts that were parsed before. */
  public List<IdOutcome> resolveParsed(List<IdText> texts, LegacyCaller caller) {
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
    Iterator<IdOutcome> foundOlder = findAll(older, caller).iterator();
    return texts.stream()
        .map(
            text ->
                text instanceof IdText.OfRule
                    ? foundOlder.next()
                    : new IdOutcome.Resolved(found.next()))
        .toList();
  }

  /** Finds an older ID regardless of the policy of its type, except in a brownout. */
  public IdOutcome find(OlderId id, LegacyCaller caller) {
    Optional<LegacyPaused> paused = paused(id.type(), caller);
    if (paused.isPresent()) {
      observePause(id.type());
      return paused.get();
    }
    ResolveOutcome outcome = lookUp(id);
    count(List.of(id), List.of(outcome), caller);
    return new IdOutcome.Resolved(outcome);
  }

  /** What an older ID stands for, also in a brownout; for administration, which isn't counted. */
  public ResolveOutcome lookUp(OlderId id) {
    ResolveOutcome outcome = resolved(id);
    if (isToBeFilled(id, outcome)) {
      NonBlockingAttempt.leave();
      if (isFilled(id)) {
        outcome = resolved(id);
      }
    }
    return outcome;
  }

  /**
   * Gives the rows that have these legacy IDs their public IDs, before a mint would give the legacy
   * IDs others.
   */
  public void fillRows(List<OlderId.LegacyId> ids) {
    List<OlderId> growing =
        ids.stream().<OlderId>map(id -> id).filter(id -> isGrowing(id.type())).toList();
    if (!growing.isEmpty()) {
      NonBlockingAttempt.leave();
      List<ResolveOutcome> _ = findOpen(growing);
    }
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
  public List<IdOutcome> findAll(List<? extends OlderId> ids, LegacyCaller caller) {
    if (ids.size() == 1) {
      return List.of(find(ids.getFirst(), caller));
    }
    Map<Integer, Optional<LegacyPaused>> paused = new HashMap<>(); // by the number of the type
    List<OlderId> open = new ArrayList<>(ids.size());
    for (OlderId id : ids) {
      if (paused.computeIfAbsent(id.type().number(), _ -> paused(id.type(), caller)).isEmpty()) {
        open.add(id);
      }
    }
    List<ResolveOutcome> outcomes = open.isEmpty() ? List.of() : findOpen(open);
    count(open, outcomes, caller);
    Iterator<ResolveOutcome> found = outcomes.iterator();
    List<IdOutcome> all = new ArrayList<>(ids.size());
    for (OlderId id : ids) {
      Optional<LegacyPaused> pause = requireNonNull(paused.get(id.type().number()));
      if (pause.isPresent()) {
        observePause(id.type());
        all.add(pause.get());
      } else {
        all.add(new IdOutcome.Resolved(found.next()));
      }
    }
    return all;
  }

  private List<ResolveOutcome> findOpen(List<OlderId> ids) {
    List<ResolveOutcome> outcomes = resolver.resolveOlder(ids);
    Map<OlderId, ResolveOutcome> filled = new LinkedHashMap<>();
    for (int i = 0; i < ids.size(); i++) {
      if (isToBeFilled(ids.get(i), outcomes.get(i))) {
        filled.put(ids.get(i), outcomes.get(i));
      }
    }
    filled.keySet().removeIf(id -> !isFilled(id));
    if (filled.isEmpty()) {
      return outcomes;
    }
    List<OlderId> wanted = List.copyOf(filled.keySet());
    Iterator<ResolveOutcome> found = resolver.resolveOlder(wanted).iterator();
    wanted.forEach(id -> filled.put(id, found.next()));
    List<ResolveOutcome> all = new ArrayList<>(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      all.add(filled.getOrDefault(ids.get(i), outcomes.get(i)));
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

  /** Most types have no brownouts, and need no clock. */
  private Optional<LegacyPaused> paused(Type type, LegacyCaller caller) {
    Optional<LegacyPolicy> policy = type.legacy().filter(legacy -> !legacy.brownouts().isEmpty());
    if (policy.isEmpty()) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    return policy
        .get()
        .brownout(caller.keyName(), now)
        .map(brownout -> LegacyPaused.of(brownout, policy.get(), now));
  }

  private void observePause(Type type) {
    if (counts) {
      observer.observe(new Event.LegacyAnswered(type.name(), "brownout"));
    }
  }

  private void count(List<OlderId> ids, List<ResolveOutcome> outcomes, LegacyCaller caller) {
    if (!counts) {
      return;
    }
    Map<Integer, Integer> times = new HashMap<>(); // by the number of the type
    for (int i = 0; i < ids.size(); i++) {
      Type type = ids.get(i).type();
      boolean isFound =
          outcomes.get(i) instanceof ResolveOutcome.Found
              || outcomes.get(i) instanceof ResolveOutcome.Merged;
      if (isFound) {
        hits.count(type);
        times.merge(type.number(), 1, Integer::sum);
      }
      observer.observe(new Event.LegacyAnswered(type.name(), isFound ? "found" : "not found"));
    }
    times.forEach((type, count) -> callers.count(type, caller, count));
  }
}

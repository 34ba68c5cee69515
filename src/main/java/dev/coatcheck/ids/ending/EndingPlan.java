package dev.coatcheck.ids.ending;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.ids.ending.EndOutcome.MergeRefused.Why;
import dev.coatcheck.ids.ending.EndOutcome.Side;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.mapping.IdText.OfToken;
import dev.coatcheck.ids.mapping.NewEnding;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.StoredEnding;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedToken;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.GroupCommit;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides revocations and merges one after the other, on locked rows. Pure: the caller passes in
 * the rows and writes the planned endings. Chains stay flat: nothing is merged into a public ID
 * that has ended itself.
 */
final class EndingPlan {
  sealed interface Step {
    record Revoke(OfToken id, Optional<String> reason) implements Step {}

    record Merge(OfToken id, OfToken into) implements Step {}

    record Refused(EndOutcome outcome) implements Step {}
  }

  /**
   * The requests of one caller.
   *
   * @param once set if the requests have an Idempotency-Key
   */
  record Call(
      List<Step> steps,
      Endings.Mode mode,
      Actor by,
      Optional<IdempotentCall<List<EndOutcome>>> once)
      implements GroupCommit.Call {
    @Override
    public boolean isBatch() {
      return steps.stream().filter(step -> !(step instanceof Step.Refused)).count() > 1;
    }

    Stream<OfToken> ids() {
      return steps.stream()
          .flatMap(
              step ->
                  switch (step) {
                    case Step.Revoke(OfToken id, _) -> Stream.of(id);
                    case Step.Merge(OfToken id, OfToken into) -> Stream.of(id, into);
                    case Step.Refused _ -> Stream.empty();
                  });
    }

    /** The outcomes of the requests that name no public ID. */
    List<EndOutcome> refused() {
      return steps.stream()
          .filter(Step.Refused.class::isInstance)
          .map(step -> ((Step.Refused) step).outcome())
          .toList();
    }

    private boolean isWritten(List<EndOutcome> outcomes) {
      return switch (mode) {
        case EACH -> true;
        case ALL_OR_NONE -> outcomes.stream().allMatch(EndOutcome.Done.class::isInstance);
        case NONE -> false;
      };
    }
  }

  private final Map<TypedToken, StoredMapping> rows;
  private final Map<TypedToken, StoredEnding> endings;
  private final Map<TypedToken, String> endedBy = new LinkedHashMap<>();
  private final List<AuditEntry> audited = new ArrayList<>();
  private final Instant now;

  EndingPlan(List<StoredMapping> rows, List<StoredEnding> endings, Instant now) {
    this.rows = rows.stream().collect(Collectors.toMap(StoredMapping::id, Function.identity()));
    this.endings = new HashMap<>();
    endings.forEach(ending -> this.endings.put(ending.id(), ending));
    this.now = now;
  }

  /**
   * Decides the steps of a call. Unless nothing is to be written, the next call sees them as done.
   */
  List<EndOutcome> decide(Call call) {
    Map<TypedToken, StoredEnding> endingsBefore = Map.copyOf(endings);
    Set<TypedToken> endedBefore = Set.copyOf(endedBy.keySet());
    List<EndOutcome> outcomes =
        call.steps().stream()
            .map(
                step ->
                    switch (step) {
                      case Step.Revoke revoke -> revoke(revoke, call.by().name());
                      case Step.Merge merge -> merge(merge, call.by().name());
                      case Step.Refused(EndOutcome outcome) -> outcome;
                    })
            .toList();
    if (!call.isWritten(outcomes)) {
      endings.clear();
      endings.putAll(endingsBefore);
      endedBy.keySet().retainAll(endedBefore);
    }
    audited.addAll(entries(call, endedBefore));
    return outcomes;
  }

  /** What the calls have ended, for the audit: a call has one entry for revocations or merges. */
  List<AuditEntry> audited() {
    return List.copyOf(audited);
  }

  /** A public ID that the call names twice ends once. */
  private List<AuditEntry> entries(Call call, Set<TypedToken> endedBefore) {
    Set<String> revoked = new LinkedHashSet<>();
    Map<String, String> merged = new LinkedHashMap<>();
    for (Step step : call.steps()) {
      switch (step) {
        case Step.Revoke(OfToken id, _) when isNew(id, endedBefore) ->
            revoked.add(id.publicId().toString());
        case Step.Merge(OfToken id, _) when isNew(id, endedBefore) ->
            merged.put(
                id.publicId().toString(),
                new OfToken(id.type(), survivor(id.id()).token()).publicId().toString());
        case Step.Revoke _, Step.Merge _, Step.Refused _ -> {}
      }
    }
    List<AuditEntry> entries = new ArrayList<>();
    if (!revoked.isEmpty()) {
      entries.add(AuditEntry.of(call.by(), "id.revoke", List.copyOf(revoked), Map.of()));
    }
    if (!merged.isEmpty()) {
      Set<String> subjects = new LinkedHashSet<>(merged.keySet());
      subjects.addAll(merged.values());
      entries.add(
          AuditEntry.of(
              call.by(),
              "id.merge",
              List.copyOf(subjects),
              Map.of("items", merged.entrySet().stream().map(EndingPlan::item).toList())));
    }
    return entries;
  }

  private static Map<String, String> item(Map.Entry<String, String> merged) {
    return Map.of("id", merged.getKey(), "into", merged.getValue());
  }

  private boolean isNew(OfToken id, Set<TypedToken> endedBefore) {
    return endedBy.containsKey(id.id()) && !endedBefore.contains(id.id());
  }

  /** All new endings, in the order of the calls. */
  List<NewEnding> planned() {
    return endedBy.entrySet().stream()
        .map(
            ended ->
                new NewEnding(
                    requireNonNull(rows.get(ended.getKey())),
                    requireNonNull(endings.get(ended.getKey())),
                    ended.getValue()))
        .toList();
  }

  private EndOutcome revoke(Step.Revoke step, String by) {
    Optional<StoredMapping> row = row(step.id());
    if (row.isEmpty()) {
      return new EndOutcome.Unissued(Side.ID, new ResolveOutcome.Unknown());
    }
    if (row.get().isErased()) {
      return new EndOutcome.Erased(Side.ID);
    }
    TypedToken id = step.id().id();
    Optional<StoredEnding> before = Optional.ofNullable(endings.get(id));
    if (before.flatMap(StoredEnding::survivor).isPresent()) {
      return new EndOutcome.EndedOtherwise(Side.ID);
    }
    StoredEnding ending =
        before.orElseGet(() -> end(new StoredEnding(id, now, step.reason(), Optional.empty()), by));
    return new EndOutcome.Done(
        new ResolveOutcome.Revoked(
            ending.of(row.get()).of(step.id().type()), ending.reason(), ending.endedAt()));
  }

  private EndOutcome merge(Step.Merge step, String by) {
    Optional<StoredMapping> row = row(step.id());
    if (row.isEmpty()) {
      return new EndOutcome.Unissued(Side.ID, new ResolveOutcome.Unknown());
    }
    Optional<StoredMapping> into = row(step.into());
    if (into.isEmpty()) {
      return new EndOutcome.Unissued(Side.INTO, new ResolveOutcome.Unknown());
    }
    if (row.get().isErased() || into.get().isErased()) {
      return new EndOutcome.Erased(row.get().isErased() ? Side.ID : Side.INTO);
    }
    TypedToken id = step.id().id();
    TypedToken survivor = survivor(step.into().id());
    if (step.id().type().number() != step.into().type().number()) {
      return new EndOutcome.MergeRefused(Why.OTHER_TYPE);
    }
    if (id.equals(step.into().id())) {
      return new EndOutcome.MergeRefused(Why.ITSELF);
    }
    Optional<StoredEnding> before = Optional.ofNullable(endings.get(id));
    if (before.isPresent() && !before.get().survivor().equals(Optional.of(survivor))) {
      return new EndOutcome.EndedOtherwise(Side.ID);
    }
    if (survivor.equals(id)) {
      return new EndOutcome.MergeRefused(Why.CYCLE);
    }
    if (before.isEmpty() && endings.containsKey(survivor)) {
      return new EndOutcome.EndedOtherwise(Side.INTO);
    }
    StoredEnding ending =
        before.orElseGet(
            () -> end(new StoredEnding(id, now, Optional.empty(), Optional.of(survivor)), by));
    Type type = step.id().type();
    return new EndOutcome.Done(
        new ResolveOutcome.Merged(
            ending.of(row.get()).of(type),
            requireNonNull(rows.get(survivor)).of(type),
            ending.endedAt()));
  }

  private StoredEnding end(StoredEnding ending, String by) {
    ending
        .survivor()
        .ifPresent(survivor -> endings.replaceAll((_, each) -> each.moved(ending.id(), survivor)));
    endings.put(ending.id(), ending);
    endedBy.put(ending.id(), by);
    return ending;
  }

  private TypedToken survivor(TypedToken id) {
    return Optional.ofNullable(endings.get(id)).flatMap(StoredEnding::survivor).orElse(id);
  }

  /** A row of another type than that of the prefix counts as no row. */
  private Optional<StoredMapping> row(OfToken id) {
    return Optional.ofNullable(rows.get(id.id()));
  }
}

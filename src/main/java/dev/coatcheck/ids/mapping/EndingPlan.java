package dev.coatcheck.ids.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.mapping.EndOutcome.MergeRefused.Why;
import dev.coatcheck.ids.mapping.EndOutcome.Side;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Decides revocations and merges one after the other, on rows that are locked. Knows no database.
 * Chains are flat before and after: nothing is merged into what has ended itself.
 */
final class EndingPlan {
  /** A public ID that a request names. */
  record Ref(Type type, Token token) {}

  /** One thing to do. */
  sealed interface Step {
    Ref id();

    record Revoke(Ref id, Optional<String> reason) implements Step {}

    record Merge(Ref id, Ref into) implements Step {}
  }

  private final Map<Token, StoredMapping> rows;
  private final Map<Token, StoredEnding> endings;
  private final Set<Token> ended = new LinkedHashSet<>();
  private final Instant now;

  EndingPlan(List<StoredMapping> rows, List<StoredEnding> endings, Instant now) {
    this.rows = rows.stream().collect(Collectors.toMap(StoredMapping::token, Function.identity()));
    this.endings = new HashMap<>();
    endings.forEach(ending -> this.endings.put(ending.token(), ending));
    this.now = now;
  }

  EndOutcome decide(Step step) {
    return switch (step) {
      case Step.Revoke revoke -> revoke(revoke);
      case Step.Merge merge -> merge(merge);
    };
  }

  /** What is new, each with its row, in the order of the requests. */
  Map<StoredMapping, StoredEnding> planned() {
    Map<StoredMapping, StoredEnding> planned = LinkedHashMap.newLinkedHashMap(ended.size());
    ended.forEach(
        token -> planned.put(requireNonNull(rows.get(token)), requireNonNull(endings.get(token))));
    return planned;
  }

  private EndOutcome revoke(Step.Revoke step) {
    Optional<StoredMapping> row = row(step.id());
    if (row.isEmpty()) {
      return new EndOutcome.Unknown(Side.ID);
    }
    Token token = step.id().token();
    Optional<StoredEnding> before = Optional.ofNullable(endings.get(token));
    if (before.flatMap(StoredEnding::survivor).isPresent()) {
      return new EndOutcome.EndedOtherwise(Side.ID);
    }
    StoredEnding ending =
        before.orElseGet(() -> end(new StoredEnding(token, now, step.reason(), Optional.empty())));
    return new EndOutcome.Done(
        new ResolveOutcome.Revoked(
            ending.of(row.get()).of(step.id().type()), ending.reason(), ending.endedAt()));
  }

  private EndOutcome merge(Step.Merge step) {
    Optional<StoredMapping> row = row(step.id());
    if (row.isEmpty()) {
      return new EndOutcome.Unknown(Side.ID);
    }
    if (row(step.into()).isEmpty()) {
      return new EndOutcome.Unknown(Side.INTO);
    }
    Token token = step.id().token();
    Token survivor = survivor(step.into().token());
    if (step.id().type().number() != step.into().type().number()) {
      return new EndOutcome.MergeRefused(Why.OTHER_TYPE);
    }
    if (token.equals(step.into().token())) {
      return new EndOutcome.MergeRefused(Why.ITSELF);
    }
    Optional<StoredEnding> before = Optional.ofNullable(endings.get(token));
    if (before.isPresent() && !before.get().survivor().equals(Optional.of(survivor))) {
      return new EndOutcome.EndedOtherwise(Side.ID);
    }
    if (survivor.equals(token)) {
      return new EndOutcome.MergeRefused(Why.CYCLE);
    }
    if (before.isEmpty() && endings.containsKey(survivor)) {
      return new EndOutcome.EndedOtherwise(Side.INTO);
    }
    StoredEnding ending =
        before.orElseGet(
            () -> end(new StoredEnding(token, now, Optional.empty(), Optional.of(survivor))));
    Type type = step.id().type();
    return new EndOutcome.Done(
        new ResolveOutcome.Merged(
            ending.of(row.get()).of(type),
            requireNonNull(rows.get(survivor)).of(type),
            ending.endedAt()));
  }

  private StoredEnding end(StoredEnding ending) {
    ending
        .survivor()
        .ifPresent(
            survivor -> endings.replaceAll((_, each) -> each.moved(ending.token(), survivor)));
    endings.put(ending.token(), ending);
    ended.add(ending.token());
    return ending;
  }

  private Token survivor(Token token) {
    return Optional.ofNullable(endings.get(token)).flatMap(StoredEnding::survivor).orElse(token);
  }

  /** A row of another type than the prefix says looks like no row at all. */
  private Optional<StoredMapping> row(Ref ref) {
    return Optional.ofNullable(rows.get(ref.token()))
        .filter(row -> row.typeNumber() == ref.type().number());
  }
}

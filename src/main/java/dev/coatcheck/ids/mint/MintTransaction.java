package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.mint.MintPlan.Entry;
import dev.coatcheck.postgres.group.GroupCommit.Attempt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one transaction and their outcomes. Pure: the caller passes in the stored rows and
 * reports what it inserted.
 */
final class MintTransaction {
  private final List<Member> members;
  private MintPlan plan = new MintPlan(KnownRows.NONE);

  /** A call and its outcome; two callers may send the very same call. */
  private static final class Member {
    private final MintCall call;
    private final List<Entry> entries = new ArrayList<>();
    private List<MintOutcome.Item> items = List.of();
    private @Nullable Attempt<MintOutcome> attempt;

    Member(MintCall call) {
      this.call = call;
    }

    Stream<MintTarget> targets() {
      return entries.stream()
          .filter(Entry.Sound.class::isInstance)
          .map(entry -> ((Entry.Sound) entry).target());
    }

    /** Whether nothing is written for the call, because a request of it is refused. */
    boolean isRefused() {
      return call.atomic() && !refused().isEmpty();
    }

    List<MintOutcome.RefusedItem> refused() {
      List<MintOutcome.RefusedItem> refused = new ArrayList<>();
      for (int i = 0; i < entries.size(); i++) {
        if (entries.get(i) instanceof Entry.Refused(MintOutcome.Refused item)) {
          refused.add(new MintOutcome.RefusedItem(i, item));
        }
      }
      return refused;
    }
  }

  MintTransaction(List<MintCall> calls) {
    this.members = calls.stream().map(Member::new).toList();
  }

  /** Whether another transaction may be about to write what this one wants to. */
  boolean bringsNames() {
    return members.stream().anyMatch(member -> member.call.bringsNames());
  }

  /** A batch is alone in its transaction. */
  boolean isBatch() {
    return members.getFirst().call.isBatch();
  }

  /** The locks of every name that two calls might bring at the same time. */
  Set<Long> locks() {
    return open()
        .flatMap(member -> member.call.locks().stream())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Leaves out the calls with a name that another transaction uses. */
  void leaveOut(Set<Long> refusedLocks) {
    if (!refusedLocks.isEmpty()) {
      open()
          .filter(member -> member.call.locks().stream().anyMatch(refusedLocks::contains))
          .forEach(member -> member.attempt = new Attempt.Held<>());
    }
  }

  List<IdempotencyKey> idempotencyKeys() {
    return open().flatMap(member -> member.call.once().stream()).map(IdempotentCall::key).toList();
  }

  /** Answers calls again that have a stored response. */
  void replay(Map<IdempotencyKey, IdempotencyTable.Past> pasts) {
    open()
        .forEach(
            member ->
                member.call.once().ifPresent(once -> replay(member, once, pasts.get(once.key()))));
  }

  private static void replay(
      Member member, IdempotentCall<?> once, IdempotencyTable.@Nullable Past past) {
    if (past != null) {
      member.attempt =
          new Attempt.Done<>(
              past.of(
                  once,
                  answer -> new MintOutcome.Answered(answer, true),
                  MintOutcome.KeyReused::new));
    }
  }

  /** The requests of calls whose names have to be looked up before the write. */
  List<MintRequest> lookedUp() {
    return open()
        .map(member -> member.call)
        .filter(MintCall::looksFirst)
        .flatMap(call -> call.requests().stream())
        .toList();
  }

  /** Finds the mapping of each request, stored or new. */
  void plan(KnownRows known) {
    plan = new MintPlan(known);
    open()
        .forEach(
            member -> member.call.requests().forEach(each -> member.entries.add(plan.add(each))));
    dropUnwanted();
  }

  /** Refuses the calls that need a key which can't be generated. */
  void refuse(Collection<MintTarget> keyless, MintOutcome.KeysUnavailable why) {
    Set<MintTarget> without = new HashSet<>(keyless);
    open()
        .filter(member -> member.targets().anyMatch(without::contains))
        .forEach(member -> member.attempt = new Attempt.Done<>(why));
    dropUnwanted();
  }

  /** Writes nothing for calls that were refused as a whole. */
  private void dropUnwanted() {
    if (members.stream().anyMatch(member -> member.attempt != null || member.isRefused())) {
      Set<MintTarget> wanted =
          open()
              .filter(member -> !member.isRefused())
              .flatMap(Member::targets)
              .collect(Collectors.toSet());
      plan.keep(wanted);
    }
  }

  MintPlan plan() {
    return plan;
  }

  /** An atomic call is alone in its transaction. */
  boolean isAtomic() {
    return open().anyMatch(member -> member.call.atomic());
  }

  /**
   * Settles all calls by what was written.
   *
   * @return the answers to keep
   */
  List<IdempotencyTable.Entry> settle() {
    List<IdempotencyTable.Entry> answers = new ArrayList<>();
    open()
        .forEach(
            member ->
                member.attempt =
                    member.isRefused() || member.targets().allMatch(MintTarget::isStored)
                        ? new Attempt.Done<>(outcome(member, answers))
                        : new Attempt.Held<>());
    return answers;
  }

  /** The outcomes in the order of the calls, once all are settled. */
  List<Attempt<MintOutcome>> attempts() {
    return members.stream().map(member -> requireNonNull(member.attempt)).toList();
  }

  /** The events to report after the commit. */
  List<Event> events() {
    Map<String, int[]> byType = new HashMap<>();
    List<Event> events = new ArrayList<>();
    for (Member member : members) {
      for (MintOutcome.Item item : member.items) {
        if (item instanceof MintOutcome.Ticket ticket) {
          byType
              .computeIfAbsent(ticket.mapping().type().name(), _ -> new int[2])[
              ticket.created() ? 0 : 1]++;
        }
      }
      if (member.attempt instanceof Attempt.Done<MintOutcome>(MintOutcome.Answered answered)
          && answered.replayed()) {
        events.add(new Event.MintReplayed());
      }
    }
    byType.forEach((type, counts) -> events.add(new Event.Minted(type, counts[0], counts[1])));
    return events;
  }

  private MintOutcome outcome(Member member, List<IdempotencyTable.Entry> answers) {
    if (!member.isRefused()) {
      member.items = member.entries.stream().map(MintTransaction::item).toList();
    }
    MintOutcome.Worked worked =
        member.isRefused()
            ? new MintOutcome.NothingDone(member.refused())
            : new MintOutcome.Minted(member.items);
    if (member.call.once().isEmpty()) {
      return worked;
    }
    IdempotencyTable.Entry entry = IdempotencyTable.Entry.of(member.call.once().get(), worked);
    answers.add(entry);
    return new MintOutcome.Answered(entry.answer(), false);
  }

  private static MintOutcome.Item item(Entry entry) {
    return switch (entry) {
      case Entry.Refused(MintOutcome.Refused item) -> item;
      case Entry.TokenTaken _ -> throw new IllegalStateException("a mint brings no token");
      case Entry.Sound(MintTarget target, boolean isNew) ->
          target.row().isActive()
              ? new MintOutcome.Ticket(target.row().of(target.type()), target.isCreated() && isNew)
              : new MintOutcome.Ended();
    };
  }

  private Stream<Member> open() {
    return members.stream().filter(member -> member.attempt == null);
  }
}

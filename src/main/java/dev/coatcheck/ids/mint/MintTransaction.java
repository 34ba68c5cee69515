package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mint.MintStore.Attempt;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The calls that share one transaction, and how far each of them is. */
final class MintTransaction {
  private final List<Member> members;
  private final List<IdempotencyTable.Entry> entries = new ArrayList<>();

  /** A call, and what became of it; two callers may send the very same. */
  private static final class Member {
    private final MintCall call;
    private @Nullable Attempt attempt;

    Member(MintCall call) {
      this.call = call;
    }
  }

  MintTransaction(List<MintCall> calls) {
    this.members = calls.stream().map(Member::new).toList();
  }

  /** Whether another transaction may be about to write what this one wants to. */
  boolean bringsNames() {
    return open().anyMatch(member -> member.call.bringsNames());
  }

  /** Of every name that two calls might bring at the same time. */
  Set<Long> locks() {
    Set<Long> locks = new LinkedHashSet<>();
    open().forEach(member -> locks.addAll(locks(member.call)));
    return locks;
  }

  /** Calls with a name that another transaction works on are not for this round. */
  void leave(Set<Long> refused) {
    if (!refused.isEmpty()) {
      settle(
          call ->
              locks(call).stream().anyMatch(refused::contains)
                  ? Optional.of(new Attempt.Locked())
                  : Optional.empty());
    }
  }

  List<IdempotencyKey> idempotencyKeys() {
    return open().flatMap(member -> member.call.once().stream()).map(IdempotentCall::key).toList();
  }

  /** Calls that were answered before get that answer again. */
  void replay(Map<IdempotencyKey, IdempotencyTable.Past> pasts) {
    if (!pasts.isEmpty()) {
      settle(
          call ->
              call.once()
                  .flatMap(
                      once ->
                          Optional.ofNullable(pasts.get(once.key()))
                              .map(past -> replayed(once, past))));
    }
  }

  private static Attempt replayed(IdempotentCall<?> once, IdempotencyTable.Past past) {
    return Attempt.Done.of(
        past.requestHash().equals(once.requestHash())
            ? new MintOutcome.Answered(past.answer(), true)
            : new MintOutcome.KeyReused());
  }

  /** Plans all that is open. Only calls that bring aliases are worth a look before the write. */
  MintPlan plan(Function<List<MintRequest>, MintPlan.Known> look) {
    List<MintRequest> looked =
        open()
            .map(member -> member.call)
            .filter(MintCall::looksFirst)
            .flatMap(call -> call.requests().stream())
            .toList();
    return MintPlan.of(
        open().flatMap(member -> member.call.requests().stream()).toList(),
        looked.isEmpty() ? MintPlan.Known.NOTHING : look.apply(looked));
  }

  /** Draws keys for the plan; false if some call can have none, and the plan is void. */
  boolean draw(MintPlan plan, KeyDraws keys) {
    List<KeyDraws.Refusal> refusals = keys.drawFor(plan.newThings());
    if (refusals.isEmpty()) {
      return true;
    }
    int begin = 0;
    for (Member member : open().toList()) {
      int end = begin + member.call.requests().size();
      for (KeyDraws.Refusal refusal : refusals) {
        if (refusal.concerns(begin, end)) {
          member.attempt = Attempt.Done.of(refusal.why());
        }
      }
      begin = end;
    }
    return false;
  }

  /** An atomic call is alone in its round. */
  boolean isAtomic() {
    return open().anyMatch(member -> member.call.atomic());
  }

  /** What became of every call, in the order they came. */
  List<Attempt> attempts(MintPlan plan) {
    int begin = 0;
    for (Member member : open().toList()) {
      int end = begin + member.call.requests().size();
      member.attempt =
          isNothing(member.call, plan) || plan.isDone(begin, end)
              ? done(member.call, plan, begin, end)
              : new Attempt.Locked();
      begin = end;
    }
    return members.stream().map(member -> requireNonNull(member.attempt)).toList();
  }

  /** The answers to keep, of the calls that this round has worked on. */
  List<IdempotencyTable.Entry> entries() {
    return entries;
  }

  private static boolean isNothing(MintCall call, MintPlan plan) {
    return call.atomic() && plan.refusesAny();
  }

  private Attempt done(MintCall call, MintPlan plan, int begin, int end) {
    MintOutcome.Worked outcome =
        isNothing(call, plan)
            ? new MintOutcome.NothingDone(
                IntStream.range(begin, end)
                    .boxed()
                    .flatMap(
                        i ->
                            plan.refusal(i).stream()
                                .map(item -> new MintOutcome.RefusedItem(i - begin, item)))
                    .toList())
            : new MintOutcome.Minted(IntStream.range(begin, end).mapToObj(plan::item).toList());
    MintOutcome answer = call.once().<MintOutcome>map(once -> keep(once, outcome)).orElse(outcome);
    return new Attempt.Done(answer, outcome);
  }

  private MintOutcome.Answered keep(
      IdempotentCall<MintOutcome.Worked> once, MintOutcome.Worked outcome) {
    StoredResponse answer = once.answer().apply(outcome);
    entries.add(new IdempotencyTable.Entry(once.key(), once.requestHash(), answer));
    return new MintOutcome.Answered(answer, false);
  }

  private Stream<Member> open() {
    return members.stream().filter(member -> member.attempt == null);
  }

  private void settle(Function<MintCall, Optional<Attempt>> attempt) {
    open().toList().forEach(member -> member.attempt = attempt.apply(member.call).orElse(null));
  }

  /** A batch takes none for its items: it would hold up everybody who brings one of them. */
  private static List<Long> locks(MintCall call) {
    List<Long> locks = new ArrayList<>();
    call.once().ifPresent(once -> locks.add(once.key().lock()));
    if (!call.isBatch()) {
      MintRequest request = call.requests().getFirst();
      String type = Integer.toString(request.type().number());
      request.key().ifPresent(key -> locks.add(hash("key", type, key.text())));
      request
          .aliases()
          .forEach(
              alias ->
                  locks.add(
                      hash(
                          alias.scheme().wireName(),
                          type,
                          alias.value() + '\0' + alias.namespace().stored())));
    }
    return locks;
  }

  /** Two names with the same hash only wait for each other without need. */
  private static long hash(String kind, String owner, String name) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      String text = kind + '\0' + owner + '\0' + name;
      return ByteBuffer.wrap(digest.digest(text.getBytes(StandardCharsets.UTF_8))).getLong();
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}

package dev.coatcheck.ids.mint;

import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.Mapping;
import java.util.List;

public sealed interface MintOutcome {

  sealed interface Worked extends MintOutcome {}

  /** Each request in its order; what was created is committed. */
  record Minted(List<Item> items) implements Worked {
    public Minted {
      items = List.copyOf(items);
    }
  }

  /** Some request of an atomic call was refused, so nothing was done. */
  record NothingDone(List<RefusedItem> refused) implements Worked {
    public NothingDone {
      refused = List.copyOf(refused);
    }
  }

  /** A refused request of an atomic call, by its index. */
  record RefusedItem(int index, Refused item) {}

  /**
   * The response to a call with an Idempotency-Key, now and for every repetition.
   *
   * @param replayed whether an earlier request did the work
   */
  record Answered(StoredResponse answer, boolean replayed) implements MintOutcome {}

  /**
   * The Idempotency-Key was used for another request; nothing was done.
   *
   * @param forOtherTypes whether it was this request, of a caller with other types
   */
  record KeyReused(boolean forOtherTypes) implements MintOutcome {}

  /** Another call used one of the names until the deadline; nothing was done. */
  record Busy() implements MintOutcome {}

  /** No permit for a batch became free in time; nothing was done. */
  record Overloaded() implements MintOutcome {}

  /** No keys can be generated here, now or at all; nothing was done. */
  record KeysUnavailable(KeyOutcome.NoKeys why) implements MintOutcome {}

  sealed interface Item permits Ticket, Refused {}

  sealed interface Refused extends Item permits AliasTaken, Ended, Erased, TypeRetired {}

  /**
   * One public ID.
   *
   * @param created false if the (type, key) or the alias had it before
   */
  record Ticket(Mapping mapping, boolean created) implements Item {}

  /** Another public ID has this alias. */
  record AliasTaken(AliasScheme scheme) implements Refused {}

  /** The public ID of this key or alias has ended; there is never a new one. */
  record Ended() implements Refused {}

  /** The public ID of this alias, or this public ID, was erased; it never comes back. */
  record Erased() implements Refused {}

  /** The type is retired, and this would be a new public ID of it. */
  record TypeRetired() implements Refused {}
}

package dev.coatcheck.ids.mint;

import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.Mapping;
import java.util.List;

/** The outcome of a mint. */
public sealed interface MintOutcome {

  /** The call was worked on. */
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
   * The call came with an Idempotency-Key: this is its answer, now and from now on.
   *
   * @param replayed whether it was worked out for an earlier request
   */
  record Answered(StoredResponse answer, boolean replayed) implements MintOutcome {}

  /** The Idempotency-Key belongs to another request; nothing was done. */
  record KeyReused() implements MintOutcome {}

  /** Another call with one of the same names was not done in time; nothing was done by this one. */
  record Busy() implements MintOutcome {}

  /** As many batches as are let in were under way for too long; nothing was done. */
  record Overloaded() implements MintOutcome {}

  /** No keys can be generated here, now or at all; nothing was done. */
  record KeysUnavailable(KeyDraw.NoKeys why) implements MintOutcome {}

  /** The outcome of one request. */
  sealed interface Item permits Ticket, Refused {}

  /** Why a request got no public ID. */
  sealed interface Refused extends Item permits AliasTaken, Ended {}

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
}

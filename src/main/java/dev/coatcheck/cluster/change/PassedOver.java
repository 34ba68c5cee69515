package dev.coatcheck.cluster.change;

import dev.coatcheck.core.name.WireNamed;

/** Why public IDs were asked at the primary, though there is a replica. */
enum PassedOver implements WireNamed {
  /** The replica doesn't have the row. */
  MISS,
  /** The row has ended, or this instance knows that it has. */
  ENDED,
  /** The replica doesn't have the last change that this instance knows. */
  BEHIND,
  /** This instance heard of a change meanwhile. */
  CHANGED,
  /** The change feed isn't trusted, so nobody can say what the replica must have. */
  FEED,
  /** The request has no time left for a question to both. */
  NO_TIME,
  /** All connections to the replica are in use. */
  BUSY,
  /** The replica broke the statement off, for a conflict with what it replays. */
  CANCELLED,
  /** The replica didn't answer soon enough. */
  SLOW,
  /** The replica can't be reached, or its answer was an error. */
  AWAY,
  /** The server takes writes: it was promoted, or never was a replica. */
  PROMOTED,
  /** The replica hasn't replayed a checkpoint of the primary's timeline yet. */
  TIMELINE,
  /** The server has other data. */
  OTHER_DATABASE
}

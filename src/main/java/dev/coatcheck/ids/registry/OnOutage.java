package dev.coatcheck.ids.registry;

import dev.coatcheck.core.name.WireNamed;

/** What to do with a cached public ID in an outage of Postgres. */
public enum OnOutage implements WireNamed {
  /** Serve it for a while: an ID that was revoked meanwhile may still work. */
  SERVE_STALE,
  REFUSE
}

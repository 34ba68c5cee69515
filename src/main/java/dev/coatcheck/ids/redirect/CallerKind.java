package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.name.WireNamed;

/** What tells those who ask for legacy IDs apart. */
public enum CallerKind implements WireNamed {
  API_KEY,
  USER_AGENT,
  REFERRING_HOST,
  /** The /24 of an IPv4 address, the /48 of an IPv6 address. */
  ADDRESS_RANGE
}

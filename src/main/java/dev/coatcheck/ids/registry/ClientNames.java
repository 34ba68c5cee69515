package dev.coatcheck.ids.registry;

import dev.coatcheck.core.name.WireNamed;

/** The scope within which a client ID is unique if a call gives no namespace. */
public enum ClientNames implements WireNamed {
  /** Each call must give one. */
  REQUIRED,
  /** The principal of the API key is the namespace. */
  PRINCIPAL,
  /** All callers share one namespace, so any of them receives what another one minted. */
  SHARED;

  /** For a new type. */
  public static final ClientNames DEFAULT = PRINCIPAL;
}

package dev.coatcheck.ids.registry;

import dev.coatcheck.core.name.WireNamed;

/** What a client ID is unique in when a call names no namespace. */
public enum ClientNames implements WireNamed {
  /** A call must name one. */
  REQUIRED,
  /** The principal of the API key is the namespace. */
  PRINCIPAL,
  /** All callers share one namespace, so any of them receives what another one minted. */
  SHARED;

  /** Of a new type. */
  public static final ClientNames DEFAULT = PRINCIPAL;
}

package dev.coatcheck.ids.registry;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What a client ID is unique in when a call names no namespace. */
public enum ClientNames {
  /** A call must name one. */
  REQUIRED,
  /** The principal of the API key is the namespace. */
  PRINCIPAL,
  /** All callers share one namespace, so any of them receives what another one minted. */
  SHARED;

  /** Of a new type. */
  public static final ClientNames DEFAULT = PRINCIPAL;

  /** As it stands in the API and in the database. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<ClientNames> named(String wireName) {
    return Arrays.stream(values()).filter(each -> each.wireName().equals(wireName)).findFirst();
  }
}

package dev.coatcheck.bulk.rows;

import dev.coatcheck.core.name.WireNamed;

/** Why a row was refused. The other rows of the file are imported. */
public enum RowFault implements WireNamed {
  LINE_TOO_LONG("A line is at most 4096 bytes."),
  ROW_MALFORMED(
      "In CSV a row has as many fields as the header, and a quote only around a whole field; in"
          + " NDJSON it is one object of strings."),
  FIELD_UNKNOWN(
      "Only type, key, legacy_id, created_at, public_id, client_id, client_namespace and"
          + " client_principal are known."),
  TYPE_MISSING("Each row names its type."),
  TYPE_UNKNOWN("No type has this name. Register the type first."),
  TYPE_RETIRED(
      "The type is retired, so it gets no new public IDs; only rows that it has already are"
          + " accepted."),
  TYPE_NOT_ALLOWED("The API key is for other types only."),
  KEY_MISSING(
      "A row without a key needs a legacy_id or a client_id, so that it can be sent again."),
  KEY_REQUIRED("The type generates no keys, so each of its rows needs a key."),
  KEY_MALFORMED("The key is not of the kind that the type has: bigint or uuid."),
  LEGACY_ID_MALFORMED("A legacy ID is a number from 1 to 2^63 - 1 without sign or leading zeros."),
  LEGACY_ID_MISSING("Each row of this file has a legacy_id."),
  LEGACY_ID_OUT_OF_ORDER(
      "Sort the rows of this file by legacy_id: keys follow that order, and a higher legacy_id"
          + " already has its key."),
  KEY_SEALED(
      "The public ID of this key is sealed: it is computed, so there is nothing to import. Mint it"
          + " with POST /v1/ids, with its aliases if it has some."),
  LEGACY_ID_UNPLANNED(
      "The legacy ID is higher than all in the plan. Mint the key of this newer row with POST"
          + " /v1/ids, or plan again."),
  CLIENT_ID_MALFORMED("A client ID is a UUID in 36 characters."),
  CLIENT_ID_MISSING("A client_namespace or client_principal belongs to a client_id."),
  CLIENT_NAMESPACE_MALFORMED(
      "A client_namespace is 1 to 64 visible ASCII characters without spaces, and a row has either"
          + " a client_namespace or a client_principal."),
  CLIENT_NAMESPACE_MISSING(
      "Client IDs of this type need a client_namespace: the channel, user or device that made"
          + " them."),
  CLIENT_PRINCIPAL_REFUSED(
      "Only an API key with the scope * may import client IDs in the name of another principal."),
  CREATED_AT_MALFORMED(
      "A time looks like 2026-11-21T08:15:00.123456Z, from 1970 until a day from now."),
  PUBLIC_ID_MALFORMED("The public ID has another type than the row, or a typo."),
  BUCKET_MISMATCH(
      "The public ID was made with another salt. Register the type with the salt of the gateway"
          + " that made the public ID, before the type has any rows."),
  PUBLIC_ID_CONFLICT(
      "The key already has another public ID, or the public ID already has another key."),
  ALIAS_CONFLICT("Another public ID already has this legacy ID or client ID."),
  ID_ENDED("The public ID of this row was revoked or merged, for good. Leave the row out."),
  ID_ERASED("The public ID or an alias of this row was erased, for good. Leave the row out.");

  private final String detail;

  RowFault(String detail) {
    this.detail = detail;
  }

  /** What is wrong, and what to do. Never repeats input. */
  public String detail() {
    return detail;
  }
}

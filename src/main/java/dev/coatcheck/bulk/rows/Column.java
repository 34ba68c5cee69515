package dev.coatcheck.bulk.rows;

import dev.coatcheck.core.name.WireNamed;

/** The columns of a row, named as in CSV headers and NDJSON objects. */
public enum Column implements WireNamed {
  TYPE,
  KEY,
  LEGACY_ID,
  CREATED_AT,
  PUBLIC_ID,
  CLIENT_ID,
  CLIENT_NAMESPACE,
  CLIENT_PRINCIPAL
}

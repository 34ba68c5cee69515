package dev.coatcheck.cluster.change;

import dev.coatcheck.core.name.WireNamed;

/** What a change is about. */
public enum ChangeKind implements WireNamed {
  /**
   * A public ID was revoked or merged; the subject is the number of its type and its token as a
   * UUID. Or public IDs were imported, so they are no longer unknown; the subject is {@code
   * imported}.
   */
  ENDING,
  /**
   * An alias was removed; the subject is the number of its type, its scheme, its namespace and its
   * value.
   */
  ALIAS,
  /** An API key was revoked; the subject is its ID. */
  API_KEY,
  /** A type was created or changed; the subject is its number. */
  TYPE,
  /** A table migration was started or reached its goal; the subject is its ID. */
  TABLE_MIGRATION
}

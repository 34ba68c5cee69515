package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.registry.Type;

/** Looks up rows that a running table migration has not mapped yet. */
public interface LegacySource {
  /** For a gateway without table migrations. */
  LegacySource NONE =
      new LegacySource() {
        @Override
        public boolean isFilling(Type type) {
          return false;
        }

        @Override
        public boolean fillOnDemand(Type type, long number) {
          return false;
        }
      };

  /** Whether numbers of the type may lie there; never queries. */
  boolean isFilling(Type type);

  /**
   * Makes the mapping of a number if there is a thing that has it; says whether there is.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if that can't be found out now
   */
  boolean fillOnDemand(Type type, long number);
}

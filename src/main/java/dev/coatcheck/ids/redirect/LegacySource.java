package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.registry.Type;

/** The source of legacy IDs without a mapping: the table that a run fills. */
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

<<<<<<< HEAD
  /** Whether numbers of the type may lie there; never queries. */
=======
  /** Whether the source may have legacy IDs of the type; sends no statement. */
>>>>>>> 1e644bf (Name outcomes, callers and sessions in comments, and requests from memory in a metric)
  boolean isFilling(Type type);

  /**
   * Makes the mapping of a legacy ID if a row has it; returns whether a row has it.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if that can't be found out now
   */
  boolean fillOnDemand(Type type, long number);
}

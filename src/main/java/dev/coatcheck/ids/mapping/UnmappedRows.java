package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.registry.Type;
import java.util.List;

/** The rows of table migrations that may have no mapping yet. */
public interface UnmappedRows {
  /** For a gateway without table migrations. */
  UnmappedRows NONE =
      new UnmappedRows() {
        @Override
        public boolean mayHave(int typeNumber) {
          return false;
        }

        @Override
        public boolean fillOnDemand(Type type, long legacy) {
          return false;
        }

        @Override
        public void publish(int typeNumber, List<Key> keys) {}
      };

  /** Whether there may be such rows of the type. Never queries. */
  boolean mayHave(int typeNumber);

  /**
   * Creates the mapping of a legacy ID if a row has it. Returns whether one has.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if that can't be found out now
   */
  boolean fillOnDemand(Type type, long legacy);

  /**
   * Gives a public ID to those of the keys that a row has.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if that can't be found out now
   */
  void publish(int typeNumber, List<Key> keys);
}

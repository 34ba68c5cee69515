package dev.coatcheck.tablemigration;

import dev.coatcheck.db.Database;
import dev.coatcheck.transfer.LegacyKeyTable;
import dev.coatcheck.transfer.LegacyKeyTable.AlreadyThere;
import dev.coatcheck.transfer.LegacyKeyTable.LegacyKey;
import java.util.List;

/** Writes the mapping of one row. */
final class SpotStore {
  private final Database gateway;
  private final LegacyKeyTable mappings;

  SpotStore(Database gateway, LegacyKeyTable mappings) {
    this.gateway = gateway;
    this.mappings = mappings;
  }

  void insert(LegacyKey row) {
    try {
      gateway.write("read through", sql -> mappings.insert(sql, List.of(row), true));
    } catch (AlreadyThere somebodyElse) {
      // Which is all that was wanted.
    }
  }
}

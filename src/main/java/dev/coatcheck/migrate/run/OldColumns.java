package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.plan.OldColumnUse;
import java.time.Instant;
import java.util.List;

/**
 * What still uses the columns of the legacy IDs.
 *
 * @param switchedAt from then on statements count
 * @param dependents what would keep the columns from being dropped, or would go with them unasked
 */
public record OldColumns(Instant switchedAt, OldColumnUse use, List<String> dependents) {
  public OldColumns {
    dependents = List.copyOf(dependents);
  }
}

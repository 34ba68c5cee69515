package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.Timestamps;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.postgres.sql.CopyRows;
import java.util.ArrayList;
import java.util.List;

/** A plan as the rows that Postgres takes, by table; a table that gets none is left out. */
record CopyBatch(List<Part> parts) {
  private static final int MAPPING_BYTES = 68;
  private static final int ALIAS_BYTES = 80;

  /** The rows of one table. */
  record Part(String copy, CopyRows rows) {}

  static CopyBatch of(Plan plan) {
    List<Part> parts = new ArrayList<>();
    // Aliases before mappings, as mints do it: otherwise the two could wait for each other.
    if (!plan.aliases().isEmpty()) {
      parts.add(
          new Part(
              "copy coatcheck.alias (token, type_id, bucket, scheme, value, namespace)"
                  + " from stdin (format binary)",
              aliases(plan.aliases())));
    }
    for (MappingTable<?> table : MappingTable.all()) {
      List<StoredMapping> mappings =
          plan.mappings().stream().filter(row -> MappingTable.of(row.key()).equals(table)).toList();
      if (!mappings.isEmpty()) {
        parts.add(
            new Part(
                "copy "
                    + table.qualifiedName()
                    + " (key, created_at, token, type_id, bucket) from stdin (format binary)",
                rows(mappings)));
      }
    }
    return new CopyBatch(List.copyOf(parts));
  }

  private static CopyRows rows(List<StoredMapping> mappings) {
    CopyRows rows = new CopyRows((mappings.size() + 1) * MAPPING_BYTES).begin();
    for (StoredMapping mapping : mappings) {
      rows.row(5)
          .key(mapping.key())
          .timestamp(Timestamps.micros(mapping.createdAt()))
          .token(mapping.token())
          .integer(mapping.typeNumber())
          .smallint(mapping.token().bucket());
    }
    return rows.end();
  }

  private static CopyRows aliases(List<Plan.NewAlias> aliases) {
    CopyRows rows = new CopyRows((aliases.size() + 1) * ALIAS_BYTES).begin();
    for (Plan.NewAlias alias : aliases) {
      rows.row(6)
          .token(alias.target())
          .integer(alias.name().typeNumber())
          .smallint(alias.name().bucket())
          .text(alias.name().scheme().wireName())
          .text(alias.name().value())
          .text(alias.name().namespace().stored());
    }
    return rows.end();
  }
}

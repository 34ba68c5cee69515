package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.Timestamps;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.mint.MintPlan;
import dev.coatcheck.ids.mint.MintPlan.NewName;
import dev.coatcheck.ids.mint.MintTarget;
import dev.coatcheck.postgres.sql.CopyRows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The rows of a plan in the format of COPY, by table and in the order of locks; a table without
 * rows is left out.
 */
record CopyBatch(List<Part> parts) {
  private static final int MAPPING_BYTES = 68;
  private static final int ALIAS_BYTES = 80;

  record Part(String copy, CopyRows rows) {}

  static CopyBatch of(MintPlan plan) {
    List<Part> parts = new ArrayList<>();
    // Aliases before mappings, as mints do it: otherwise the two could wait for each other.
    List<NewName> names = plan.newNames();
    if (!names.isEmpty()) {
      parts.add(
          new Part(
              "copy coatcheck.alias (token, type_id, bucket, scheme, value, namespace)"
                  + " from stdin (format binary)",
              aliases(names)));
    }
    List<StoredMapping> all =
        plan.newTargets().stream()
            .sorted(Comparator.comparing(MintTarget::subject, TypedKey.LOCK_ORDER))
            .map(MintTarget::row)
            .toList();
    for (MappingTable<?> table : MappingTable.all()) {
      List<StoredMapping> mappings = all.stream().filter(row -> table.holds(row.key())).toList();
      if (!mappings.isEmpty()) {
        parts.add(
            new Part(
                "copy %s (key, created_at, token, type_id, bucket) from stdin (format binary)"
                    .formatted(table.qualifiedName()),
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

  private static CopyRows aliases(List<NewName> names) {
    CopyRows rows = new CopyRows((names.size() + 1) * ALIAS_BYTES).begin();
    for (NewName name : names) {
      Alias alias = name.alias();
      rows.row(6)
          .token(name.target().row().token())
          .integer(alias.typeNumber())
          .smallint(alias.bucket())
          .text(alias.scheme().wireName())
          .text(alias.value())
          .text(alias.namespace().stored());
    }
    return rows.end();
  }
}

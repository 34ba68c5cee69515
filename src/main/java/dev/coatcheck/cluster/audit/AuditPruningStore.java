package dev.coatcheck.cluster.audit;

import static dev.coatcheck.postgres.sql.schema.Tables.AUDIT_ENTRY;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.min;

import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All SQL that deletes entries. No instance of the gateway uses it. */
final class AuditPruningStore {
  private static final String OPERATION = "audit prune";

  private final Database database;

  AuditPruningStore(Database database) {
    this.database = database;
  }

  static AuditEntry entry(Actor actor, Instant before, AuditPruning.Span pruned) {
    return AuditEntry.of(
        actor,
        "audit.prune",
        List.of("audit"),
        Map.of("before", before.toString(), "first", pruned.first(), "last", pruned.last()));
  }

  Optional<AuditPruning.Span> before(Instant time) {
    return database.read(
        OPERATION,
        sql ->
            sql.select(min(AUDIT_ENTRY.NUMBER), max(AUDIT_ENTRY.NUMBER))
                .from(AUDIT_ENTRY)
                .where(AUDIT_ENTRY.AT.lt(time))
                .fetchOptional()
                .filter(row -> row.value1() != null)
                .map(row -> new AuditPruning.Span(row.value1(), row.value2())));
  }

  void delete(AuditPruning.Span span, Optional<AuditEntry> entry) {
    int _ =
        database.write(
            OPERATION,
            sql -> {
              int deleted =
                  sql.deleteFrom(AUDIT_ENTRY)
                      .where(AUDIT_ENTRY.NUMBER.between(span.first(), span.last()))
                      .execute();
              AuditTable.append(sql, entry.stream().toList());
              return deleted;
            });
  }
}

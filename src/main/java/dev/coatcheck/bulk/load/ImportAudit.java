package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The two entries of an import in the audit: its start, which is committed with the first new row,
 * and its end. An import is named by the request that sent it.
 *
 * @param subjects what else it is found by
 */
public record ImportAudit(Actor actor, List<String> subjects) {
  public ImportAudit {
    subjects = List.copyOf(subjects);
  }

  /** Of an import that its request alone names. */
  public static ImportAudit of(Actor actor) {
    return new ImportAudit(actor, List.of());
  }

  public AuditEntry start() {
    return entry("import.start", Map.of());
  }

  /**
   * Counts the rows.
   *
   * @param outcome in a word
   */
  public AuditEntry finish(RowSummary summary, String outcome) {
    return entry(
        "import.finish",
        Map.of(
            "outcome", outcome,
            "rows", summary.rows(),
            "created", summary.created(),
            "existing", summary.existing(),
            "refused", summary.refused()));
  }

  private AuditEntry entry(String action, Map<String, ?> detail) {
    return AuditEntry.of(
        actor,
        action,
        Stream.concat(actor.requestId().stream(), subjects.stream()).toList(),
        detail);
  }
}

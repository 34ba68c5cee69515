package dev.coatcheck.cluster.audit;

import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.Optional;

/**
 * Deletes old entries of the audit, as the owner of the tables: the role that serves requests may
 * not. A pruning has an entry itself, which says what is gone.
 */
public final class AuditPruning {
  private static final int ROWS_AT_ONCE = 5_000;

  private final AuditPruningStore store;

  public AuditPruning(Database database) {
    this.store = new AuditPruningStore(database);
  }

  /** Entries by their numbers, both included. */
  public record Span(long first, long last) {
    public long entries() {
      return last - first + 1;
    }
  }

  /**
   * Deletes the entries before a time, some thousand in a transaction. The entry of the pruning is
   * committed with the first of them; a pruning that was broken off is done again.
   *
   * @return what was deleted; empty if there was nothing, and then there is no entry
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if it broke off
   */
  public Optional<Span> prune(Instant before, Actor actor) {
    Optional<Span> old = store.before(before);
    if (old.isPresent()) {
      Span span = old.get();
      for (long first = span.first(); first <= span.last(); first += ROWS_AT_ONCE) {
        Span part = new Span(first, Math.min(span.last(), first + ROWS_AT_ONCE - 1));
        store.delete(
            part,
            first == span.first()
                ? Optional.of(AuditPruningStore.entry(actor, before, span))
                : Optional.empty());
      }
    }
    return old;
  }
}

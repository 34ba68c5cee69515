package dev.coatcheck.cluster.audit;

import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Unnest;
import java.util.List;
import java.util.Map;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Appends to the audit, within the transaction of the change.
 *
 * <p>The numbers come from the row that is the head of the change feed. It stays locked until the
 * commit, so entries are numbered without gaps in the order of commits, and a transaction that
 * changes and audits waits for one lock only. The row keeps the time of the last entry too: a clock
 * that goes back doesn't take the entries along.
 */
public final class AuditTable {
  private static final String SEPARATOR = "\n";

  private static final String APPEND =
      """
      with head as (
        update coatcheck.change_head
           set audited = audited + {0}, audited_at = greatest(audited_at, clock_timestamp())
        returning audited, audited_at
      )
      insert into coatcheck.audit_entry
        (number, at, actor, key_id, address, request_id, action, subjects, detail)
      select head.audited - {0} + entry.ordinal, head.audited_at, entry.actor, entry.key_id,
             entry.address, entry.request_id, entry.action,
             string_to_array(entry.subjects, chr(10)), cast(entry.detail as jsonb)
        from head,
             unnest({1}, {2}, {3}, {4}, {5}, {6}, {7}) with ordinality
               as entry (actor, key_id, address, request_id, action, subjects, detail, ordinal)
      """;

  private AuditTable() {}

  /** Appends an entry with one subject, as {@link #append(DSLContext, List)} does. */
  public static void append(
      DSLContext sql,
      Actor actor,
      String action,
      String subject,
      Map<String, ? extends @Nullable Object> detail) {
    append(sql, List.of(AuditEntry.of(actor, action, List.of(subject), detail)));
  }

  /**
   * Appends entries, in one statement. Only an append to the change feed may follow in the
   * transaction: all other changes wait for the commit.
   */
  public static void append(DSLContext sql, List<AuditEntry> entries) {
    if (!entries.isEmpty()) {
      sql.query(
              APPEND,
              val((long) entries.size()),
              Unnest.texts(entries, entry -> entry.actor().name()),
              Unnest.texts(entries, entry -> entry.actor().keyId().orElse(null)),
              Unnest.texts(entries, entry -> entry.actor().address().orElse(null)),
              Unnest.texts(entries, entry -> entry.actor().requestId().orElse(null)),
              Unnest.texts(entries, AuditEntry::action),
              Unnest.texts(entries, entry -> String.join(SEPARATOR, entry.subjects())),
              Unnest.texts(entries, AuditEntry::detail))
          .execute();
    }
  }
}

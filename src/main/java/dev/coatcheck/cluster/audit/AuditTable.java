package dev.coatcheck.cluster.audit;

import static org.jooq.impl.DSL.val;

import org.jooq.DSLContext;
import org.jooq.JSONB;

/**
 * Appends to the audit, within the transaction of the change.
 *
 * <p>The numbers come from the row that is the head of the change feed. It stays locked until the
 * commit, so entries are numbered without gaps in the order of commits, and a transaction that
 * changes and audits waits for one lock only.
 */
public final class AuditTable {
  private static final String APPEND =
      """
      with head as (
        update coatcheck.change_head set audited = audited + 1 returning audited
      )
      insert into coatcheck.audit_entry
        (number, at, actor, key_id, address, request_id, action, subject_kind, subject, detail)
      select head.audited, clock_timestamp(), {0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}
      from head
      """;

  private AuditTable() {}

  /**
   * Appends one entry. Only an append to the change feed may follow in the transaction: all other
   * changes wait for the commit.
   *
   * @param action such as {@code type.put}; the text before the point is the kind of the subject
   * @param subject a public ID, or the name or ID of a type, key, import …
   * @param detail a JSON object, without keys of rows, values of aliases and secrets
   */
  public static void append(
      DSLContext sql, Actor actor, String action, String subject, String detail) {
    sql.query(
            APPEND,
            val(actor.name()),
            val(actor.keyId().orElse(null), String.class),
            val(actor.address().orElse(null), String.class),
            val(actor.requestId().orElse(null), String.class),
            val(action),
            val(action.substring(0, action.indexOf('.'))),
            val(subject),
            val(JSONB.valueOf(detail)))
        .execute();
  }
}

package dev.coatcheck.cluster.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** What filters read, by the statistics of a database that nothing else uses. */
class AuditFilterCostTest {
  private static final TestDatabase SERVER = TestDatabase.fresh();
  private static final Database DATABASE =
      Database.open(SERVER.settings(1), "audit", new Observer());
  private static final Audit AUDIT = new Audit(DATABASE);

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  /** Among many entries each filter reads about as many rows as it finds. */
  @Test
  void noFilterReadsAllEntries() {
    SERVER
        .sql()
        .execute(
            """
            insert into coatcheck.audit_entry
              (number, at, actor, action, subjects, detail)
            select n, timestamptz '2026-01-01T00:00:00Z' + n * interval '1 second',
                   case n % 1000 when 0 then 'rare' else 'edge' end,
                   case n % 500 when 0 then 'type.put' else 'id.revoke' end,
                   array['ch_' || n], '{}'
              from generate_series(1, 50000) as n
            """,
            "update coatcheck.change_head set audited = 50000",
            "vacuum analyze coatcheck.audit_entry");
    long before = rowsRead();

    assertThat(newest(AuditTest.filter("", "", ""))).hasSize(20).startsWith(50_000L);
    assertThat(newest(AuditTest.filter("ch_77", "", ""))).containsExactly(77L);
    assertThat(newest(AuditTest.filter("ch_none", "", ""))).isEmpty();
    assertThat(newest(AuditTest.filter("", "rare", ""))).startsWith(50_000L, 49_000L);
    assertThat(newest(AuditTest.filter("", "nobody", ""))).isEmpty();
    assertThat(newest(AuditTest.filter("", "", "type.put"))).startsWith(50_000L, 49_500L);
    assertThat(newest(AuditTest.span("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")))
        .hasSize(20)
        .startsWith(59L);
    assertThat(
            AUDIT.portion(
                AuditTest.span("2026-01-01T12:00:00Z", "2026-01-01T12:01:00Z"), 0, 50_000))
        .hasSize(60);
    assertThat(
            newest(
                new AuditFilter(
                    Optional.empty(),
                    Optional.of("edge"),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.of(Instant.parse("2026-01-01T00:01:00Z")))))
        .hasSize(20);

    // Left alone, the session reports what it has read up to ten seconds late.
    DATABASE.write("flush", sql -> sql.execute("select pg_stat_force_next_flush()"));
    Awaitility.await().until(() -> rowsRead() > before);
    assertThat(rowsRead() - before).isLessThan(2_000);
  }

  private static long rowsRead() {
    return SERVER
        .sql()
        .number(
            "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_user_tables"
                + " where relname = 'audit_entry'");
  }

  private static List<Long> newest(AuditFilter filter) {
    return AUDIT.page(filter, OptionalLong.empty(), 20).entries().stream()
        .map(RecordedEntry::number)
        .toList();
  }
}

package dev.coatcheck.cluster.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Appends, reads and prunes entries in a database of its own. */
class AuditTest {
  private static final TestDatabase SERVER = TestDatabase.fresh();
  private static final Database DATABASE =
      Database.open(SERVER.settings(8), "audit", new Observer());
  private static final AuditFilter ALL = filter("", "", "");

  private final Audit audit = new Audit(DATABASE);

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  @BeforeEach
  void empty() {
    SERVER
        .sql()
        .execute(
            "truncate coatcheck.audit_entry",
            "update coatcheck.change_head set audited = 0, audited_at = 'epoch'");
  }

  @Test
  void aChangeThatIsRolledBackLeavesNoEntryAndNoGap() {
    append("edge", "type.put", "charge");
    assertThatThrownBy(
            () ->
                DATABASE.write(
                    "test",
                    sql -> {
                      AuditTable.append(sql, entries("edge", "type.put", "user"));
                      throw new IllegalStateException("rolled back");
                    }))
        .isInstanceOf(IllegalStateException.class);
    append("edge", "type.put", "message");

    assertThat(newest(ALL)).containsExactly(2L, 1L);
    assertThat(audit.lastNumber()).isEqualTo(2);
    assertThat(audit.page(ALL, OptionalLong.empty(), 9).entries())
        .extracting(entry -> entry.entry().subjects())
        .containsExactly(List.of("message"), List.of("charge"));
  }

  @Test
  void entriesAreNumberedWithoutGapsInTheOrderOfCommits() throws Exception {
    List<Callable<Integer>> writers = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      String actor = "writer " + i;
      int entries = 1 + i % 3;
      boolean fails = i % 4 == 0;
      writers.add(() -> write(actor, entries, fails));
    }
    int written = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      for (Future<Integer> writer : threads.invokeAll(writers)) {
        written += writer.get();
      }
    }

    assertThat(SERVER.sql().numbers("select number from coatcheck.audit_entry order by number"))
        .containsExactlyElementsOf(LongStream.rangeClosed(1, written).boxed().toList());
    assertThat(
            SERVER
                .sql()
                .text(
                    "select string_agg(at::text, ' ' order by number) from coatcheck.audit_entry"))
        .isEqualTo(
            SERVER
                .sql()
                .text("select string_agg(at::text, ' ' order by at) from coatcheck.audit_entry"));
    assertThat(
            SERVER
                .sql()
                .number(
                    "select count(*) from (select xmin, max(number) - min(number) + 1 - count(*) as"
                        + " gaps from coatcheck.audit_entry group by xmin) as one where gaps > 0"))
        .as("transactions whose entries don't follow one another")
        .isZero();
  }

  private static int write(String actor, int entries, boolean fails) {
    try {
      return DATABASE.write(
          "test",
          sql -> {
            List<AuditEntry> all = new ArrayList<>();
            for (int i = 0; i < entries; i++) {
              all.addAll(entries(actor, "type.put", "type " + i));
            }
            AuditTable.append(sql, all);
            if (fails) {
              throw new IllegalArgumentException();
            }
            return entries;
          });
    } catch (IllegalArgumentException rolledBack) {
      return 0;
    }
  }

  /** A primary that takes over may have a clock that is behind. */
  @Test
  void timesNeverFallWhenTheClockDoes() {
    SERVER.sql().execute("update coatcheck.change_head set audited_at = '2999-01-01T00:00:00Z'");

    append("edge", "type.put", "charge");
    append("edge", "type.put", "user");

    assertThat(audit.page(ALL, OptionalLong.empty(), 9).entries())
        .extracting(RecordedEntry::at)
        .containsOnly(Instant.parse("2999-01-01T00:00:00Z"));
  }

  @Test
  void aPageHasWhatTheFilterAdmitsNewestFirst() {
    append("edge", "type.put", "charge");
    append("edge", "id.revoke", "ch_1");
    append("shop", "id.revoke", "ch_2");
    DATABASE.write(
        "test",
        sql -> {
          AuditTable.append(
              sql,
              List.of(
                  AuditEntry.of(
                      Actor.operator(), "id.merge", List.of("ch_1", "ch_2"), Map.of("n", 1))));
          return true;
        });

    assertThat(newest(ALL)).containsExactly(4L, 3L, 2L, 1L);
    assertThat(newest(filter("ch_1", "", ""))).containsExactly(4L, 2L);
    assertThat(newest(filter("", "edge", ""))).containsExactly(2L, 1L);
    assertThat(newest(filter("", "", "id.revoke"))).containsExactly(3L, 2L);
    assertThat(newest(filter("ch_2", "shop", "id.revoke"))).containsExactly(3L);
    assertThat(newest(filter("ch", "", ""))).isEmpty();

    Audit.Page first = audit.page(ALL, OptionalLong.empty(), 3);
    assertThat(first.hasMore()).isTrue();
    assertThat(first.entries()).hasSize(3);
    Audit.Page last = audit.page(ALL, OptionalLong.of(2), 3);
    assertThat(last.hasMore()).isFalse();
    assertThat(last.entries()).extracting(RecordedEntry::number).containsExactly(1L);

    assertThat(audit.portion(ALL, 1, 3)).extracting(RecordedEntry::number).containsExactly(2L, 3L);
    AuditEntry merge = audit.portion(ALL, 3, 9).getFirst().entry();
    assertThat(merge)
        .isEqualTo(
            new AuditEntry(Actor.operator(), "id.merge", List.of("ch_1", "ch_2"), "{\"n\": 1}"));
  }

  @Test
  void aSpanOfTimeHasItsFirstMomentAndNotItsLast() {
    for (int day = 1; day <= 4; day++) {
      SERVER
          .sql()
          .execute(
              "insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)"
                  + " values"
                  + " (%1$d, '2026-01-0%1$dT00:00:00Z', 'edge', 'type.put', '{charge}', '{}')"
                      .formatted(day));
    }

    assertThat(newest(span("2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z")))
        .containsExactly(3L, 2L);
    assertThat(newest(span("2026-01-02T00:00:01Z", "2027-01-01T00:00:00Z")))
        .containsExactly(4L, 3L);
    assertThat(newest(span("2026-02-01T00:00:00Z", "2027-01-01T00:00:00Z"))).isEmpty();
    assertThat(newest(span("2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"))).isEmpty();
  }

  @Test
  void aPruningDeletesWhatIsOldAndHasAnEntryItself() {
    SERVER
        .sql()
        .execute(
            """
            insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)
            select n, timestamptz '2026-01-01T00:00:00Z' + n * interval '1 second', 'edge',
                   'type.put', '{charge}', '{}'
              from generate_series(1, 12000) as n
            """,
            "update coatcheck.change_head set audited = 12000");
    AuditPruning pruning = new AuditPruning(DATABASE);
    Instant before = Instant.parse("2026-01-01T00:00:00Z").plus(11_001, ChronoUnit.SECONDS);

    assertThat(pruning.prune(before, Actor.operator())).contains(new AuditPruning.Span(1, 11_000));
    assertThat(pruning.prune(before, Actor.operator())).isEmpty();

    assertThat(SERVER.sql().number("select count(*) from coatcheck.audit_entry")).isEqualTo(1_001);
    assertThat(audit.page(ALL, OptionalLong.empty(), 1).entries())
        .singleElement()
        .satisfies(
            pruned -> {
              assertThat(pruned.number()).isEqualTo(12_001);
              assertThat(pruned.entry().action()).isEqualTo("audit.prune");
              assertThat(pruned.entry().actor()).isEqualTo(Actor.operator());
              assertThat(pruned.entry().detail()).contains("\"first\": 1", "\"last\": 11000");
            });
  }

  private List<Long> newest(AuditFilter filter) {
    return audit.page(filter, OptionalLong.empty(), 20).entries().stream()
        .map(RecordedEntry::number)
        .toList();
  }

  /** A text that is empty admits all. */
  static AuditFilter filter(String subject, String actor, String action) {
    return new AuditFilter(
        Optional.of(subject).filter(text -> !text.isEmpty()),
        Optional.of(actor).filter(text -> !text.isEmpty()),
        Optional.of(action).filter(text -> !text.isEmpty()),
        Optional.empty(),
        Optional.empty());
  }

  static AuditFilter span(String from, String to) {
    return new AuditFilter(
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(Instant.parse(from)),
        Optional.of(Instant.parse(to)));
  }

  private static void append(String actor, String action, String subject) {
    boolean _ =
        DATABASE.write(
            "test",
            sql -> {
              AuditTable.append(sql, entries(actor, action, subject));
              return true;
            });
  }

  private static List<AuditEntry> entries(String actor, String action, String subject) {
    return List.of(
        AuditEntry.of(
            new Actor(actor, Optional.of("4KIWSf8WvPNo"), Optional.empty(), Optional.empty()),
            action,
            List.of(subject),
            Map.of()));
  }
}

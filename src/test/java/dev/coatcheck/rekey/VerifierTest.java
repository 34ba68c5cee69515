package dev.coatcheck.rekey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.source.ObjectNames;
import dev.coatcheck.source.Target;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A table is migrated once for each placement; then it is broken and mended in every way. */
class VerifierTest {
  private static final int ROWS = Verifier.RANGE_ROWS + 1_000;

  /** The first row of the second range, so that what is carried over is needed. */
  private static final int BORDER = Verifier.RANGE_ROWS + 1;

  private static final String ALIAS = "type_id = <type> and scheme = 'legacy' and value = ";

  @TestFactory
  Stream<DynamicContainer> theReportNamesWhatIsWrongAndNothingElse() {
    return Stream.of(true, false)
        .map(
            beside ->
                DynamicContainer.dynamicContainer(
                    beside ? "beside the mappings" : "in another database", tests(beside)));
  }

  private static Stream<DynamicTest> tests(boolean beside) {
    Migrated[] table = new Migrated[1];
    DynamicTest first =
        DynamicTest.dynamicTest(
            "nothing is reported while the table is written to",
            () -> {
              table[0] = new Migrated(new RekeyFixture(beside));
              table[0].migrateWhileWritten();
            });
    Stream<DynamicTest> broken =
        Corruption.ALL.stream()
            .map(
                corruption ->
                    DynamicTest.dynamicTest(
                        corruption.text(), () -> table[0].requireNamed(corruption)));
    DynamicTest last =
        DynamicTest.dynamicTest(
            "nothing is reported of the mended table",
            () -> {
              assertThat(broken(table[0].verify())).isEmpty();
              table[0].fixture.close();
            });
    return Stream.of(Stream.of(first), broken, Stream.of(last)).flatMap(tests -> tests);
  }

  private static List<Verifier.Check> broken(Verifier.Report report) {
    List<Verifier.Check> broken =
        report.checks().stream().filter(check -> check.count() > 0).toList();
    assertThat(report.clean()).isEqualTo(broken.isEmpty());
    return broken;
  }

  /**
   * A way to break a table.
   *
   * @param source statements to the source, with the names of {@link TargetSql}
   * @param gateway statements to the gateway, with {@code <type>} for the number of the type
   * @param mend what the copies of all rows can't bring back
   */
  private record Corruption(
      String code,
      List<String> named,
      List<String> source,
      List<String> gateway,
      List<String> mend) {

    private static final List<Corruption> ALL =
        List.of(
            rows("null_key", "7", key("null", "id = 7")),
            new Corruption(
                "duplicate_key",
                List.of("50", "51"),
                List.of(
                    "drop index <drop_new_perm>, <drop_new_pk>",
                    key("(select snowflake_id from orders where id = 51)", "id = 50")),
                List.of(),
                List.of(
                    "create unique index <new_perm> on orders (snowflake_id)",
                    "create unique index <new_pk> on orders (snowflake_id)")),
            rows(
                "inversion",
                Integer.toString(BORDER),
                List.of(
                    key("-snowflake_id", "id in (%d, %d)".formatted(BORDER - 1, BORDER)),
                    key(
                        "(select -p.snowflake_id from orders p where p.id = %d - orders.id)"
                            .formatted(2 * BORDER - 1),
                        "id in (%d, %d)".formatted(BORDER - 1, BORDER))),
                List.of(
                    """
                    update coatcheck.alias a set token = b.token from coatcheck.alias b
                     where a.type_id = <type> and b.type_id = <type>
                       and (a.value, b.value) in (('%1$d', '%2$d'), ('%2$d', '%1$d'))\
                    """
                        .formatted(BORDER - 1, BORDER))),
            rows("missing_mapping", "100", List.of(), unpublish(100)),
            gateway(
                "wrong_mapping",
                "101",
                "update coatcheck.public_id set key = -key where token ="
                    + " (select token from coatcheck.alias where "
                    + ALIAS
                    + "'101')"),
            gateway("missing_alias", "102", "delete from coatcheck.alias where " + ALIAS + "'102'"),
            gateway(
                "wrong_alias",
                "103",
                "update coatcheck.alias set token = (select token from coatcheck.alias where "
                    + ALIAS
                    + "'104') where "
                    + ALIAS
                    + "'103'"),
            rows(
                "key_time",
                "205",
                "update orders set created_at = created_at + interval '1 ms' where id = 205"),
            rekeyed("snowflake_id - (3600000::bigint << 22)"),
            rekeyed("snowflake_id + (7200000::bigint << 22)"),
            new Corruption(
                "constraint_not_validated",
                List.of("filled"),
                List.of(
                    "alter table orders add constraint <filled>"
                        + " check (snowflake_id is not null) not valid"),
                List.of(),
                List.of("alter table orders drop constraint <filled>")),
            new Corruption(
                "index_invalid",
                List.of("new_pk"),
                List.of(
                    "drop index <drop_new_pk>",
                    "!create unique index concurrently <new_pk> on orders (text)"),
                List.of(),
                List.of(
                    "drop index <drop_new_pk>",
                    "create unique index <new_pk> on orders (snowflake_id)")),
            new Corruption(
                "sequence_cache",
                List.of("mint_seq"),
                List.of("alter sequence <mint_seq> cache 32"),
                List.of(),
                List.of("alter sequence <mint_seq> cache 1")),
            new Corruption(
                "trigger_missing",
                List.of("~coatcheck_inserted"),
                List.of("alter table orders disable trigger <t_inserted>"),
                List.of(),
                List.of("alter table orders enable trigger <t_inserted>")),
            new Corruption(
                "trigger_missing",
                List.of("~coatcheck_truncate"),
                List.of("drop trigger <t_truncate> on orders"),
                List.of(),
                List.of(DualWrite.TRUNCATE_TRIGGER)),
            rows("archive_conflict", "25", "update <archive> set key = key + 1 where legacy = 25"));

    private static Corruption rows(String code, String id, String... source) {
      return rows(code, id, List.of(source), List.of());
    }

    private static Corruption rows(
        String code, String id, List<String> source, List<String> gateway) {
      return new Corruption(code, List.of(id), source, gateway, List.of());
    }

    private static Corruption gateway(String code, String id, String... gateway) {
      return rows(code, id, List.of(), List.of(gateway));
    }

    /** A row of the trigger, whose mapping is made anew. */
    private static Corruption rekeyed(String key) {
      String row = "id = " + (ROWS + 1);
      return rows(
          "key_time",
          Integer.toString(ROWS + 1),
          List.of(
              key(key, row),
              "insert into <outbox_a> (legacy, key) select id, snowflake_id from orders where "
                  + row),
          unpublish(ROWS + 1));
    }

    private static List<String> unpublish(int id) {
      String alias = ALIAS + "'" + id + "'";
      return List.of(
          "delete from coatcheck.public_id where token ="
              + " (select token from coatcheck.alias where "
              + alias
              + ")",
          "delete from coatcheck.alias where " + alias);
    }

    private static String key(String key, String where) {
      return "update orders set snowflake_id = " + key + " where " + where;
    }

    String text() {
      return code + " of " + String.join(" and ", named);
    }
  }

  /** A table in the middle of its migration, all of whose rows have keys. */
  private static final class Migrated {
    private final RekeyFixture fixture;
    private final Target target;
    private final TargetSql names;

    private Migrated(RekeyFixture fixture) {
      this.fixture = fixture;
      fixture.execute(
          "create table orders (id bigserial primary key, created_at timestamptz, text text)",
          "insert into orders (created_at, text) select case when n % 10 > 1 then now() -"
              + " make_interval(secs => 20000 - n) end, 'x' from generate_series(1, "
              + ROWS
              + ") n");
      target = fixture.target(RekeyFixture.createdAt());
      names = new TargetSql(target);
    }

    void migrateWhileWritten() throws Exception {
      long seed = ThreadLocalRandom.current().nextLong();
      System.out.println("seed " + seed);
      fixture.apply(target, Phase.EXPAND);
      fixture.execute("insert into orders (text) values ('new')");
      AtomicBoolean stopped = new AtomicBoolean();
      CompletableFuture<Void> follower = CompletableFuture.runAsync(() -> follow(stopped));
      List<Verifier.Report> reports = new ArrayList<>();
      long writes;
      try (TableWriters writers = new TableWriters(fixture, 3_000, 4_000, seed)) {
        fixture.apply(target, Phase.BACKFILL, Phase.INDEX);
        fixture.execute(
            "delete from orders where id between 21 and 30",
            "insert into orders (id, text) select n, 'back' from generate_series(21, 30) n");
        long before = writers.writes();
        for (int i = 0; i < 4; i++) {
          reports.add(verify());
        }
        writes = writers.writes() - before;
      } finally {
        stopped.set(true);
        follower.join();
      }
      assertThat(writes).as("written meanwhile").isGreaterThan(10);
      assertThat(reports).allSatisfy(report -> assertThat(broken(report)).isEmpty());
      assertThat(reports)
          .allSatisfy(report -> assertThat(report.rows()).isGreaterThan(ROWS - 1000));
      copy();
    }

    /** The follower of the run, beside the verifier's own. */
    private void follow(AtomicBoolean stopped) {
      Outbox outbox = fixture.outbox(target);
      while (!stopped.get()) {
        outbox.drain();
        LockSupport.parkNanos(1_000_000);
      }
    }

    private void copy() {
      fixture.drain(target);
      fixture.execute(
          "create table orders_copy as select id, snowflake_id, created_at from orders",
          names.fill("create table archive_copy as table <archive>"));
      gateway("create table alias_copy as table coatcheck.alias");
      gateway("create table public_id_copy as table coatcheck.public_id");
    }

    Verifier.Report verify() {
      try (SourceSession session = SourceSession.open(fixture.settings, target)) {
        return new Verifier(
                session, fixture.gateway.database, target, fixture.type, fixture.outbox(target))
            .run(() -> true, _ -> {})
            .orElseThrow();
      }
    }

    void requireNamed(Corruption corruption) throws SQLException {
      try {
        source(corruption.source());
        corruption.gateway().forEach(this::gateway);

        List<Verifier.Check> broken = broken(verify());

        assertThat(broken).extracting(Verifier.Check::code).containsExactly(corruption.code());
        Verifier.Check found = broken.getFirst();
        assertThat(found.count()).isEqualTo(corruption.named().size());
        assertThat(found.samples()).hasSameSizeAs(corruption.named());
        for (int i = 0; i < found.samples().size(); i++) {
          assertThat(found.samples().get(i)).startsWith(name(corruption.named().get(i)));
        }
      } finally {
        mend(corruption);
      }
    }

    /** An ID, or the name of one of our objects by its kind. */
    private String name(String sample) {
      return sample.matches("[a-z_]+") ? new ObjectNames(target.table()).derived(sample) : sample;
    }

    private void mend(Corruption corruption) throws SQLException {
      source(
          List.of(
              "update orders o set snowflake_id = -c.snowflake_id from orders_copy c"
                  + " where o.id = c.id and o.snowflake_id is distinct from c.snowflake_id",
              "update orders set snowflake_id = -snowflake_id where snowflake_id < 0",
              "update orders o set created_at = c.created_at from orders_copy c"
                  + " where o.id = c.id and o.created_at is distinct from c.created_at",
              "update <archive> a set key = c.key from archive_copy c"
                  + " where a.legacy = c.legacy and a.key <> c.key"));
      source(corruption.mend());
      gateway("truncate coatcheck.alias, coatcheck.public_id");
      gateway("insert into coatcheck.alias select * from alias_copy");
      gateway("insert into coatcheck.public_id select * from public_id_copy");
    }

    /** A statement with {@code !} before it has to fail. */
    private void source(List<String> statements) throws SQLException {
      try (Connection connection = fixture.connect();
          Statement statement = connection.createStatement()) {
        statement.execute("set coatcheck.fill = 'on'");
        for (String text : statements) {
          boolean isRefused = false;
          try {
            statement.execute(names.fill(text.replaceFirst("^!", "")));
          } catch (SQLException refused) {
            isRefused = true;
            if (!text.startsWith("!")) {
              throw refused;
            }
          }
          assertThat(isRefused).isEqualTo(text.startsWith("!"));
        }
      }
    }

    private void gateway(String statement) {
      fixture.gateway.database.write(
          "test",
          sql -> sql.execute(statement.replace("<type>", Integer.toString(fixture.type.number()))));
    }
  }
}

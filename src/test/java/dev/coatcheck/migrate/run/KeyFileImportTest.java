package dev.coatcheck.migrate.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.KeyModel;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class KeyFileImportTest {
  private static final int ROWS = 12_000;

  /** Whole blocks of what came before the file broke off. */
  private static final int SETTLED = 4_992;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();

  @Test
  void aFileGivesTheKeysThatTheBackfillWouldHaveGiven() {
    fixture.execute(
        "create table files (id bigserial primary key, created_at timestamptz)",
        "insert into files (created_at) select case when n % 7 = 0 then null"
            + " else timestamptz '2024-05-01 00:00+00' + (n - n % 5 * 3) * interval '1 ms' end"
            + " from generate_series(1, "
            + ROWS
            + ") n");
    String csv =
        "legacy_id,created_at\n"
            + text(
                "select id || ',' || coalesce(to_char(created_at at time zone 'UTC',"
                    + " 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), '') from files order by id");
    TableMigration run = fixture.plan("files", Optional.of("created_at"));

    // Broken off in the middle, then sent again as a whole.
    KeyFileOutcome stopped = send(run, brokenOff(csv.substring(0, csv.indexOf("\n7000,") + 1)));
    assertThat(stopped)
        .isEqualTo(new KeyFileOutcome.Stopped(KeyFileOutcome.Why.BODY_BROKEN, SETTLED + 1));
    assertThat(send(run, csv))
        .isEqualTo(new KeyFileOutcome.Done(new RowSummary(ROWS - SETTLED, SETTLED, 0, List.of())));
    List<Long> imported = keys(run, ROWS);

    assertThat(imported).hasSize(ROWS).isSorted().doesNotHaveDuplicates();
    assertThat(imported).isEqualTo(positions(run));
    assertThat(send(run, "legacy_id\n3\n99999999\nx\n"))
        .isInstanceOfSatisfying(
            KeyFileOutcome.Done.class,
            done -> {
              assertThat(done.summary().existing()).isEqualTo(1);
              assertThat(
                      done.summary().errors().stream()
                          .map(bad -> bad.line() + bad.fault().wireName()))
                  .containsExactly("3legacy_id_unplanned", "4legacy_id_malformed");
            });
    assertThat(
            fixture
                .migrations()
                .start(run.id(), List.of(), ActionRequest.by(MigrationFixture.ACTOR)))
        .isInstanceOfSatisfying(
            IdempotentResult.Unkeyed.class,
            result -> assertThat(result.outcome()).isInstanceOf(ActionOutcome.NotNow.class));
  }

  @Test
  void aFileEndsWithTheAccessOfItsSender() {
    fixture.execute("create table ended (id bigserial primary key)");
    fixture.execute("insert into ended select n from generate_series(1, 30000) n");
    TableMigration run = fixture.plan("ended", Optional.empty());
    String csv =
        LongStream.rangeClosed(1, 30_000)
            .mapToObj(String::valueOf)
            .collect(Collectors.joining("\n", "legacy_id\n", "\n"));
    AtomicInteger asked = new AtomicInteger();

    KeyFileOutcome outcome =
        fixture
            .files()
            .run(
                run.id(),
                RowFormat.CSV,
                new ByteArrayInputStream(csv.getBytes(StandardCharsets.UTF_8)),
                10,
                new KeyFileImport.Sender(Actor.operator(), () -> asked.incrementAndGet() <= 2));

    assertThat(outcome)
        .isInstanceOfSatisfying(
            KeyFileOutcome.Stopped.class,
            stopped -> {
              assertThat(stopped.why()).isEqualTo(KeyFileOutcome.Why.ACCESS_ENDED);
              assertThat(keys(run, 30_000)).hasSize((int) stopped.linesSettled() - 1);
            });
    assertThat(asked).hasValue(3);
  }

  /** Each of them gives the rows of a table public IDs. */
  @Test
  void aRetiredTypeGetsNeitherARunNorKeysFromAFile() {
    fixture.execute("create table bygone (id bigserial primary key)");
    Type bygone = fixture.gateway.type("bygone", "byg", KeyKind.BIGINT);
    TableMigration run = fixture.plan("bygone", bygone, Optional.empty());

    fixture.gateway.retire(bygone);

    assertThat(fixture.refused(run)).extracting(Diagnostic::code).containsExactly("type_retired");
    assertThat(send(run, "legacy_id\n1\n")).isEqualTo(new KeyFileOutcome.TypeRetired());
    assertThat(fixture.refused("bygone", bygone))
        .extracting(Diagnostic::code)
        .containsExactly("type_retired");
  }

  /** The last of a part is decided by rows that are not there yet. */
  @Test
  void aWrongTimeAtTheEndOfAPartIsNotThatOfTheNextRows() {
    fixture.execute("create table parts (id bigserial primary key)");
    fixture.execute("insert into parts select n from generate_series(1, 2000) n");
    TableMigration run = fixture.plan("parts", Optional.empty());
    long restored = System.currentTimeMillis() - 86_400_000;

    for (int part = 0; part < 2; part++) {
      StringBuilder csv = new StringBuilder("legacy_id,created_at\n");
      for (int id = part * 1_000 + 1; id <= part * 1_000 + 1_000; id++) {
        long millis = id == 1_000 ? restored : 1_714_521_600_000L + id * 1_000L;
        csv.append(id).append(',').append(Instant.ofEpochMilli(millis)).append('\n');
      }
      assertThat(send(run, csv.toString()))
          .isEqualTo(new KeyFileOutcome.Done(new RowSummary(1_000, 0, 0, List.of())));
    }

    List<Long> keys = keys(run, 2_000);
    assertThat(keys).hasSize(2_000).isSorted();
    long off = 0;
    for (int i = 0; i < 2_000; i++) {
      long millis = (keys.get(i) >> 22) + 1_672_531_200_000L;
      off += Math.abs(millis - (1_714_521_600_000L + (i + 1) * 1_000L)) > 1_000 ? 1 : 0;
    }
    assertThat(off).isLessThanOrEqualTo(64);
  }

  /** In the middle of a file, as a restart of Postgres does. */
  @Test
  void aFileWhoseDatabaseConnectionsAreEndedGoesOnOrSaysHowFarItCame() {
    fixture.execute("create table robbed (id bigserial primary key)");
    fixture.execute("insert into robbed select n from generate_series(1, 20000) n");
    TableMigration run = fixture.plan("robbed", Optional.empty());
    StringBuilder csv = new StringBuilder("legacy_id,created_at\n");
    List<@Nullable Long> created = new ArrayList<>();
    for (int id = 1; id <= 20_000; id++) {
      long millis = 1_714_521_600_000L + id * 1_000L;
      created.add(millis - 1_672_531_200_000L);
      csv.append(id).append(',').append(Instant.ofEpochMilli(millis)).append('\n');
    }
    byte[] bytes = csv.toString().getBytes(StandardCharsets.UTF_8);
    InputStream robbing =
        new SequenceInputStream(
            new ByteArrayInputStream(bytes, 0, bytes.length / 2),
            new ByteArrayInputStream(bytes, bytes.length / 2, bytes.length) {
              private boolean isRobbed;

              @Override
              public synchronized int read(byte[] into, int from, int length) {
                if (!isRobbed) {
                  isRobbed = true;
                  fixture.execute(
                      "select pg_terminate_backend(pid) from pg_stat_activity"
                          + " where pid <> pg_backend_pid() and datname = current_database()");
                }
                return super.read(into, from, length);
              }
            });

    KeyFileOutcome first = send(run, robbing);
    if (first instanceof KeyFileOutcome.Stopped(KeyFileOutcome.Why why, long lines)) {
      assertThat(why).isEqualTo(KeyFileOutcome.Why.DATABASE_GONE);
      assertThat((lines - 1) % 128).isZero();
    }
    assertThat(sendAgain(run, csv.toString()))
        .isInstanceOfSatisfying(
            KeyFileOutcome.Done.class,
            done ->
                assertThat(done.summary().created() + done.summary().existing()).isEqualTo(20_000));

    assertThat(keys(run, 20_000))
        .isEqualTo(
            KeyModel.keys(
                created, run.times().createdAt().toEpochMilli() - 1_672_531_200_000L, 4_096));
  }

  @Test
  void aRowThatComesTooLateIsSetAside() {
    fixture.execute("create table late (id bigserial primary key)");
    fixture.execute("insert into late select n from generate_series(1, 30000) n");
    TableMigration run = fixture.plan("late", Optional.empty());

    KeyFileOutcome outcome = send(run, "legacy_id\n20001\n20002\n20000\n20003\n");

    assertThat(outcome)
        .isInstanceOfSatisfying(
            KeyFileOutcome.Done.class,
            done -> {
              assertThat(done.summary().created()).isEqualTo(3);
              assertThat(done.summary().errors().getFirst().fault().wireName())
                  .isEqualTo("legacy_id_out_of_order");
            });
  }

  @Test
  void aTimeBeyondAllNumbersIsRefusedAlone() {
    fixture.execute("create table beyond (id bigserial primary key)");
    fixture.execute("insert into beyond select n from generate_series(1, 3) n");
    TableMigration run = fixture.plan("beyond", Optional.empty());

    assertThat(send(run, "legacy_id,created_at\n1,\n2,+999999999-12-31T00:00:00Z\n3,\n"))
        .isEqualTo(
            new KeyFileOutcome.Done(
                new RowSummary(2, 0, 1, List.of(new RowError(3, RowFault.CREATED_AT_MALFORMED)))));
  }

  private List<Long> positions(TableMigration run) {
    List<@Nullable Long> created = new ArrayList<>();
    for (String time :
        fixture.texts(
            "select floor(extract(epoch from created_at) * 1000)::bigint - 1672531200000"
                + " from files order by id")) {
      created.add(time == null ? null : Long.valueOf(time));
    }
    return KeyModel.keys(
        created, run.times().createdAt().toEpochMilli() - 1_672_531_200_000L, 4_096);
  }

  private static InputStream brokenOff(String text) {
    return new SequenceInputStream(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("broken off");
          }

          @Override
          public int read(byte[] into, int offset, int length) throws IOException {
            return length == 0 ? 0 : read();
          }
        });
  }

  private KeyFileOutcome send(TableMigration run, String csv) {
    return send(run, new ByteArrayInputStream(csv.getBytes(StandardCharsets.UTF_8)));
  }

  /** As a client does that was told to: the pool may lend a connection that was ended meanwhile. */
  private KeyFileOutcome sendAgain(TableMigration run, String csv) {
    AtomicReference<KeyFileOutcome> outcome = new AtomicReference<>();
    Awaitility.await()
        .ignoreExceptionsInstanceOf(DatabaseUnavailable.class)
        .until(
            () -> {
              outcome.set(send(run, csv));
              return true;
            });
    return requireNonNull(outcome.get());
  }

  private KeyFileOutcome send(TableMigration run, InputStream csv) {
    return fixture
        .files()
        .run(
            run.id(),
            RowFormat.CSV,
            csv,
            10,
            new KeyFileImport.Sender(Actor.operator(), () -> true));
  }

  private List<Long> keys(TableMigration run, int rows) {
    return fixture.gateway.database.read(
        "test",
        sql ->
            sql.fetch(
                    "select p.key from coatcheck.alias a join coatcheck.public_id p using (token)"
                        + " where a.type_id = {0} and a.value::bigint <= {1} order by"
                        + " a.value::bigint",
                    val(run.typeNumber()), val(rows))
                .getValues(0, Long.class));
  }

  private String text(String sql) {
    return fixture.texts(sql).stream().collect(Collectors.joining("\n")) + "\n";
  }
}

package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Payments in partitions, each with foreign keys of its own but for the oldest, whose rentals may
 * be gone. The application's role owns nothing, and old partitions leave while the rentals migrate.
 */
@Tag("faults")
class PaymentPartitionsTest {
  private final OwnedSource shop = new OwnedSource();
  private final String web =
      "web_" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
  private MigrationFixture fixture;
  private int month;

  @BeforeEach
  void tables() {
    shop.admin(
        "create role " + web,
        "grant usage on schema public to " + web,
        "set role " + shop.owner,
        "create table public.customer (customer_id serial primary key, name text)",
        "create table public.rental (rental_id serial primary key,"
            + " rental_date timestamptz not null default now(),"
            + " customer_id int not null references public.customer on update cascade"
            + " on delete restrict, note text)",
        "create table public.payment (payment_id serial, customer_id int not null,"
            + " rental_id int not null, amount numeric(5, 2) not null, month int not null,"
            + " primary key (month, payment_id)) partition by range (month)",
        "create index on public.payment (rental_id)",
        "insert into public.customer select n, 'guest' from generate_series(1, 50) n",
        "insert into public.rental (customer_id) select 1 + n % 50 from generate_series(1, 600) n");
    for (int n = 0; n <= 5; n++) {
      partition(n);
    }
    shop.admin(
        "insert into public.payment (customer_id, rental_id, amount, month)"
            + " select 1 + n % 50, n, 1, n % 6 from generate_series(1, 600) n",
        "insert into public.payment (customer_id, rental_id, amount, month)"
            + " select 1, 100000 + n, 1, 0 from generate_series(1, 7) n",
        "grant select, insert, update, delete on all tables in schema public to " + web,
        "grant usage on all sequences in schema public to " + web);
    fixture = MigrationFixture.on(shop.forMigrator());
  }

  /** The oldest has no foreign key. */
  private void partition(int n) {
    shop.admin(
        "set role " + shop.owner,
        "create table public.payment_%1$d partition of public.payment for values from (%1$d) to (%2$d)"
            .formatted(n, n + 1));
    if (n > 0) {
      shop.admin(
          "set role " + shop.owner,
          "alter table public.payment_%d add foreign key (customer_id) references public.customer,"
                  .formatted(n)
              + " add foreign key (rental_id) references public.rental (rental_id)"
              + (n % 2 == 0 ? "" : " on update cascade on delete restrict"));
    }
    month = n;
  }

  @AfterEach
  void close() {
    fixture.close();
    shop.admin("drop owned by " + web, "drop role " + web);
    shop.close();
  }

  @Test
  void rowsWithoutAParentAreNamedWithACountAndStopNeitherRunNorWriters() {
    TableMigration planned = fixture.plan("rental", Optional.of("rental_date"));
    assertThat(planned.plan().preconditions())
        .filteredOn(one -> one.code().equals("rows_without_parent"))
        .singleElement()
        .extracting(Precondition::found)
        .asString()
        .contains("7 rows of public.payment_0, whose rental_id is", "10000", "and others");

    TableMigration run = fixture.run(planned);
    write("rental_id");
    verify(run);
    requireTwins("payment");
    fixture.switchKey(run);
    write("rental_id");
    verify(run);
    fixture.undo(run, Phase.SWITCH);
    write("rental_id");
    // A parent that comes long after its row.
    shop.admin("insert into public.rental (rental_id, customer_id) values (100003, 1)");
    fixture.switchKey(run);
    assertThat(
            shop.texts(
                "select coalesce(rental_id_snowflake_id, 0)::text from public.payment"
                    + " where rental_id = 100003"))
        .doesNotContain("0");
    fixture.contract(run);
    write("rental_id_snowflake_id");
    assertThat(
            shop.text("select count(*) from public.payment_0 where rental_id_snowflake_id is null"))
        .as("the seven less one, and those of the application")
        .isEqualTo("9");
  }

  @Test
  void partitionsThatLeaveInAnyPhaseStopNothing() {
    TableMigration run = fixture.plan("rental", Optional.of("rental_date"));
    fixture.rate(run, 300);
    fixture.start(run);
    fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
    shop.admin("alter table public.payment detach partition public.payment_0 concurrently");
    fixture.rate(run, 0);
    fixture.await(run, RunState.DONE);
    write("rental_id");

    shop.admin("alter table public.payment detach partition public.payment_1");
    shop.admin(
        "insert into public.payment_1 (customer_id, rental_id, amount, month) values (1, 7, 9, 1)");
    partition(6);
    fixture.switchKey(run);
    write("rental_id");
    requireTwins("payment_1");
    assertThat(fixture.saw(run, "detached", "public.payment_1.rental_id")).isTrue();

    shop.admin("alter table public.payment detach partition public.payment_2 concurrently");
    fixture.undo(run, Phase.CHILDREN);
    assertThat(twins()).isEmpty();
    write("rental_id");
    fixture.resume(run);
    fixture.await(run, RunState.DONE);
    shop.admin(
        "drop table public.payment_2",
        "truncate public.payment_3",
        "alter table public.payment detach partition public.payment_3",
        "drop table public.payment_3");
    write("rental_id");
    fixture.switchKey(run);

    shop.admin("alter table public.payment detach partition public.payment_4");
    partition(7);
    write("rental_id");
    fixture.contract(run);
    write("rental_id_snowflake_id");
    assertThat(twins())
        .containsExactly(
            "payment", "payment_1", "payment_4", "payment_5", "payment_6", "payment_7");
    assertThat(
            shop.texts(
                "select conrelid::regclass::text from pg_constraint where contype = 'f'"
                    + " and confrelid = 'public.rental'::regclass order by 1"))
        .as("one foreign key to the new keys each")
        .containsExactly("payment_1", "payment_4", "payment_5", "payment_6", "payment_7");

    MigrationFixture.done(
        fixture
            .migrations()
            .retire(run.id(), NewKeys.FUNCTION, ActionRequest.by(MigrationFixture.ACTOR)));
    write("rental_id_snowflake_id");
    assertThat(shop.texts("select tgname::text from pg_trigger where tgname like '~coatcheck%'"))
        .isEmpty();
  }

  /** Its rows are held until the window of the switch has closed. */
  @Test
  void aPartitionThatLeavesWhileTheSwitchWaitsMovesNoKeyAfterItsWindow() {
    TableMigration run = fixture.run(fixture.plan("rental", Optional.of("rental_date")));
    Instant opens = Instant.now().plusSeconds(4);
    Instant closes = opens.plusSeconds(6);
    MigrationFixture.done(
        fixture
            .migrations()
            .switchWithin(
                run.id(),
                new SwitchWindow(Optional.of(opens), Optional.of(closes)),
                ActionRequest.by(MigrationFixture.ACTOR)));
    fixture.awaitReason(run, "The switch waits until");
    shop.admin("alter table public.payment detach partition public.payment_1");
    try (TestSession reader = shop.database.sql().begin("select from public.payment_1")) {
      fixture.await(() -> Instant.now().isAfter(closes));
      assertThat(fixture.now(run).status().waitsFor()).isPresent();
      reader.commit();
    }

    fixture.await(run, RunState.DONE);
    assertThat(fixture.saw(run, "detached", "public.payment_1.rental_id")).isTrue();
    assertThat(fixture.saw(run, "postponed", "closed before the switch began")).isTrue();
    assertThat(
            shop.text(
                "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                    + " and conrelid = 'public.rental'::regclass"))
        .isEqualTo("PRIMARY KEY (rental_id)");
    fixture.switchKey(run);
    requireTwins("payment_1");
  }

  @Test
  void anUndoFreesAPartitionThatWasDetachedToo() {
    TableMigration run = fixture.run(fixture.plan("rental", Optional.of("rental_date")));
    shop.admin(
        "alter table public.payment detach partition public.payment_1",
        "alter table public.payment detach partition public.payment_2");

    fixture.undo(run, Phase.EXPAND);

    assertThat(twins()).isEmpty();
    assertThat(
            shop.texts(
                "select proname::text from pg_proc"
                    + " where pronamespace = 'coatcheck_migration'::regnamespace"))
        .isEmpty();
    assertThat(shop.texts("select tgname::text from pg_trigger where tgname like '~coatcheck%'"))
        .isEmpty();
    write("rental_id");
  }

  private List<String> twins() {
    return shop.texts(
        "select attrelid::regclass::text from pg_attribute a join pg_class c on c.oid = a.attrelid"
            + " where attname = 'rental_id_snowflake_id' and not attisdropped and relkind in ('r',"
            + " 'p') order by 1");
  }

  /** As the application: also where there is no parent, and never one. */
  private void write(String reference) {
    boolean isOld = reference.equals("rental_id");
    String key = isOld ? "rental_id" : "snowflake_id";
    shop.admin(
        "set role " + web,
        "begin; insert into public.rental (customer_id) values (1);"
            + " insert into public.payment (customer_id, %1$s, amount, month)".formatted(reference)
            + " select 1, max(%s), 2, %d from public.rental; commit".formatted(key, month),
        "update public.payment set amount = 3 where month = " + month,
        "update public.rental set note = 'seen' where %1$s = (select max(%1$s) from public.rental)"
            .formatted(key),
        "delete from public.payment where month = " + month,
        "delete from public.rental where %1$s = (select max(%1$s) from public.rental)"
            .formatted(key));
    if (shop.texts(
            "select relid::text from pg_partition_tree('public.payment') where relid ="
                + " 'public.payment_0'::regclass")
        .isEmpty()) {
      return;
    }
    shop.admin(
        "set role " + web,
        "insert into public.payment (customer_id, %s, amount, month) values (1, 999999, 2, 0)"
            .formatted(reference),
        "update public.payment set amount = 4 where month = 0",
        "with gone as (select %1$s as r from public.payment where month = 0 and amount = 4"
                .formatted(reference)
            + " and %s in (select %s from public.rental) limit 1)".formatted(reference, key)
            + " delete from public.rental where %s in (select r from gone)".formatted(key));
  }

  private void verify(TableMigration run) {
    MigrationFixture.done(
        fixture.migrations().verify(run.id(), ActionRequest.by(MigrationFixture.ACTOR)));
    fixture.await(run, RunState.DONE);
  }

  private void requireTwins(String table) {
    assertThat(
            shop.texts(
                "select p.rental_id::text from public.%s p join public.rental r using (rental_id)"
                        .formatted(table)
                    + " where p.rental_id_snowflake_id is distinct from r.snowflake_id"))
        .as(table)
        .isEmpty();
  }
}

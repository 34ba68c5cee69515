package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The source is spoken to as a role that has the rights of the documentation, and no more. */
@Tag("faults")
class SourceRoleTest {
  private static final String OWNER = "shop_owner_" + ProcessHandle.current().pid();
  private static final String ROLE = "coatcheck_migration_" + ProcessHandle.current().pid();
  private static final String APPLICATION = "shop_app_" + ProcessHandle.current().pid();
  private static final String PASSWORD = "of the test";

  @Test
  void theRightsOfTheDocumentationSufficeForEverything() throws Exception {
    TestDatabase admin = TestDatabase.empty();
    try {
      admin.sql().execute("create role " + OWNER, "create role " + APPLICATION);
      admin
          .sql()
          .execute(
              "grant create on schema public to " + OWNER,
              "set role " + OWNER,
              "create table public.orders (id bigserial primary key, created_at timestamptz default"
                  + " now())",
              "insert into public.orders select from generate_series(1, 1000)",
              "grant select, insert, update, delete on public.orders to " + APPLICATION,
              "grant usage on sequence public.orders_id_seq to " + APPLICATION);
      admin.sql().execute(documented(admin).toArray(String[]::new));
      try (MigrationFixture fixture =
          MigrationFixture.on(new TestDatabase(admin.url(), ROLE, PASSWORD))) {
        TableMigration first = fixture.run();
        fixture.requireOrderedKeys();
        List<Long> keys = keys(fixture);
        write(admin);
        fixture.awaitDelivered(first);
        fixture.undo(first, Phase.EXPAND);
        write(admin);
        admin.sql().execute("revoke create on database " + database(admin) + " from " + ROLE);

        TableMigration second = fixture.run();
        assertThat(keys(fixture)).containsAll(keys);
        fixture.execute("drop table coatcheck_migration.set_aside"); // the undo makes it again
        fixture.undo(second, Phase.EXPAND);
        MigrationFixture.done(
            fixture.migrations().forget(second.id(), ActionRequest.by(MigrationFixture.ACTOR)));
        assertThat(
                fixture.count(
                    "select count(*) from pg_namespace where nspname = 'coatcheck_migration'"))
            .isZero();
        write(admin);
      }
    } finally {
      for (String role : List.of(ROLE, OWNER, APPLICATION)) {
        admin
            .sql()
            .execute(
                "do $$ begin if exists (select from pg_roles where rolname = '%1$s') then drop owned by %1$s cascade; drop role %1$s; end if; end $$"
                    .formatted(role));
      }
    }
  }

  /** The archive would lack them, without an error. */
  @Test
  void rowsThatAPolicyHidesKeepTheLegacyIdsOnTheTable() {
    try (OwnedSource shop = new OwnedSource();
        MigrationFixture fixture = MigrationFixture.on(shop.forMigrator())) {
      shop.application(
          "create table public.orders (id bigserial primary key, created_at timestamptz default"
              + " now())",
          "insert into public.orders select from generate_series(1, 100)");
      TableMigration run = fixture.switchKey(fixture.run());
      shop.application(
          "create policy hidden on public.orders using (false)",
          "alter table public.orders enable row level security, force row level security");

      MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));

      assertThat(fixture.failure(run)).contains("row-level security");
      assertThat(shop.text("select count(id) from public.orders")).isEqualTo("100");
    }
  }

  @Test
  void anUndoThatATableOfAStrangerPreventsSaysWhatToDo() {
    try (OwnedSource shop = new OwnedSource();
        MigrationFixture fixture = MigrationFixture.on(shop.forMigrator())) {
      shop.application(
          "create table public.orders (id bigserial primary key, created_at timestamptz default"
              + " now())",
          "insert into public.orders select from generate_series(1, 100)");
      TableMigration run = fixture.switchKey(fixture.run());
      shop.admin("create table public.others (n bigint references public.orders)");

      fixture.beginUndo(run, Phase.SWITCH);

      assertThat(fixture.failure(run))
          .contains("permission denied for table others", "drop its foreign key; then undo again.");
      shop.admin("drop table public.others");
      fixture.undo(run, Phase.SWITCH);
    }
  }

  @Test
  void aRunThatLosesItsRightsInTheMiddleSaysWhatToGiveBackAndGoesOn() {
    try (OwnedSource shop = new OwnedSource();
        MigrationFixture fixture = MigrationFixture.on(shop.forMigrator())) {
      shop.application(
          "create table public.orders (id bigserial primary key, created_at timestamptz default"
              + " now())",
          "insert into public.orders select from generate_series(1, 2000)");
      TableMigration run = fixture.startInTheMiddle(100);

      shop.admin("revoke %s from %s".formatted(shop.owner, shop.migrator));

      assertThat(fixture.failure(run))
          .contains("permission denied for table orders. Give the source's user the rights of")
          .endsWith("; then retry.");
      shop.admin("grant %s to %s".formatted(shop.owner, shop.migrator));
      fixture.rate(run, 0);
      fixture.retry(run);
      fixture.await(run, RunState.DONE);
    }
  }

  /** The statements of the page, with the names of this test. */
  private static List<String> documented(TestDatabase admin) throws IOException {
    String page = Files.readString(Path.of("docs/table-migrations.md"));
    String block =
        page.split("## Sources and rights", 2)[1].split("```sql\n", 2)[1].split("```", 2)[0];
    assertThat(block).contains("create role coatcheck_migration login", "grant shop_owner to");
    return block
        .replaceAll("--.*", "")
        .replace("coatcheck_migration", ROLE)
        .replace("shop_owner", OWNER)
        .replace("database shop", "database " + database(admin))
        .replace("'…'", "'" + PASSWORD + "'")
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .toList();
  }

  private static String database(TestDatabase admin) {
    return admin.url().replaceAll(".*/([^/?]+)(\\?.*)?", "$1");
  }

  /** As the application, which may do no more than that. */
  private static void write(TestDatabase admin) {
    admin
        .sql()
        .execute(
            "set role " + APPLICATION,
            "insert into public.orders default values",
            "update public.orders set created_at = now() where id = 7",
            "delete from public.orders where id = (select min(id) from public.orders where id >"
                + " 100)");
  }

  private static List<Long> keys(MigrationFixture fixture) {
    return fixture.column("select snowflake_id from orders where id <= 100 order by id");
  }
}

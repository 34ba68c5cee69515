package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.sql.Grants;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The owner of the schema migrates it, and a start that may not says what is missing. */
class DatabaseCommandTest {
  @Test
  void migratePrintsWhatItAppliedAndThenNothing() {
    TestDatabase database = TestDatabase.empty();
    assertThat(access(database).err())
        .startsWith("coatcheck access list: The database has no schema \"coatcheck\" yet")
        .contains("coatcheck database migrate");

    Terminal first = migrate(database);
    Terminal second = migrate(database);

    assertThat(first.lines()).first().isEqualTo("applied 001 types");
    assertThat(first.lines()).hasSizeGreaterThan(7).allMatch(line -> line.startsWith("applied 0"));
    assertThat(second)
        .isEqualTo(new Terminal(0, "The schema is up to date; nothing was applied.\n", ""));
    assertThat(access(database).status()).isZero();
  }

  /** Such as in a wrong folder, or without the variable that names the database. */
  @Test
  void migrateMakesNoDatabaseWhereThereIsNone(@TempDir Path folder) {
    Path home = folder.resolve("elsewhere");

    Terminal refused = Terminal.run("database", "migrate", "--home=" + home);

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err())
        .hasLineCount(1)
        .contains("There is no embedded database in " + home, "--home", "--database-url");
    assertThat(home).doesNotExist();
  }

  @Test
  void aStartThatMayNotMigrateSaysWhatTheSchemaLacks() {
    TestDatabase database = TestDatabase.fresh();
    String last =
        Objects.requireNonNull(
            database.sql().text("select max(version) from coatcheck.flyway_schema_history"));
    database
        .sql()
        .execute("delete from coatcheck.flyway_schema_history where version = '" + last + "'");

    for (Terminal refused : List.of(serve(database), access(database))) {
      assertThat(refused.status()).isEqualTo(1);
      assertThat(refused.err())
          .hasLineCount(1)
          .contains("is older than this program", "coatcheck database migrate", "missing: " + last);
    }
  }

  @Test
  void aSchemaOfALaterReleaseIsUsed() {
    TestDatabase database = TestDatabase.fresh();
    database
        .sql()
        .execute(
            """
            insert into coatcheck.flyway_schema_history
              select installed_rank + 1, '999', 'later', type, 'V999__later.sql', 1, installed_by, now(), 1, true
                from coatcheck.flyway_schema_history order by installed_rank desc limit 1
            """);

    assertThat(access(database).status()).isZero();
    assertThat(migrate(database).status()).isZero();
  }

  @Test
  void aSchemaOfADevelopmentVersionIsRefused() {
    TestDatabase database = TestDatabase.fresh();
    database
        .sql()
        .execute("update coatcheck.flyway_schema_history set checksum = 1 where version = '001'");

    assertThat(access(database).err()).contains("development version that was never released");
  }

  @Test
  void aRoleThatLacksARightIsToldWhichAndWhatToRun() {
    TestDatabase database = TestDatabase.fresh();
    TestDatabase lesser = database.asLesserRole();
    assertThat(access(lesser).status()).isZero();
    assertThat(migrate(lesser).lines())
        .containsExactly("The schema is up to date; nothing was applied.");

    database.sql().execute("revoke all on coatcheck.audit_entry from " + lesser.user());
    assertThat(access(lesser).err())
        .isEqualTo(
            "coatcheck access list: The role %1$s lacks select on coatcheck.audit_entry, insert on coatcheck.audit_entry. Let the owner of the schema run what coatcheck database grants --to %1$s prints.\n"
                .formatted(lesser.user()));

    database.sql().execute("revoke usage on schema coatcheck from " + lesser.user());
    assertThat(access(lesser).err()).contains(" lacks usage on schema coatcheck, ");
  }

  @Test
  void grantsPrintsStatementsAndRefusesAnOddRole() {
    assertThat(Terminal.run("database", "grants", "--to", "edge").out())
        .isEqualTo(Grants.sql("edge"));
    assertThat(Terminal.run("database", "grants", "--to", "public").status()).isEqualTo(2);
    assertThat(Terminal.run("database", "grants").status()).isEqualTo(2);
  }

  @Test
  void distributeAndRebalanceSayWhatTheDatabaseLacks() {
    assertThat(run(TestDatabase.empty(), "database", "distribute").err())
        .contains("no schema", "coatcheck database migrate");

    TestDatabase database = TestDatabase.fresh();
    for (String verb : List.of("distribute", "rebalance")) {
      Terminal refused = run(database, "database", verb);
      assertThat(refused.status()).isEqualTo(1);
      assertThat(refused.err()).contains("no extension \"citus\"", "create extension citus");
    }
  }

  private static Terminal migrate(TestDatabase database) {
    return run(database, "database", "migrate");
  }

  private static Terminal access(TestDatabase database) {
    return run(database, "access", "list", "--no-migrate");
  }

  private static Terminal serve(TestDatabase database) {
    return run(database, "serve", "--port=0", "--no-migrate");
  }

  private static Terminal run(TestDatabase database, String... command) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(database.flags());
    return Terminal.run(arguments.toArray(String[]::new));
  }
}

package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.coatcheck.core.observe.Observer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The role of a gateway that doesn't own its schema. */
class GrantsTest {
  private static final String INSUFFICIENT_PRIVILEGE = "42501";
  private static final TestDatabase DATABASE = TestDatabase.fresh();
  private static final TestSql LESSER = DATABASE.asLesserRole().sql();

  @Test
  void everyTableHasItsRights() {
    assertThat(Grants.RIGHTS.keySet())
        .as("the tables of coatcheck.*: say in Grants what a gateway does with each")
        .containsExactlyInAnyOrderElementsOf(
            DATABASE
                .sql()
                .texts(
                    "select relname from pg_class where relnamespace = 'coatcheck'::regnamespace"
                        + " and relkind in ('r', 'p', 'v', 'm')"));
  }

  @Test
  void theOperationsPageHasTheGrants() throws IOException {
    assertThat(Files.readString(Path.of("docs", "operations.md")))
        .contains("```sql\n" + Grants.sql("coatcheck_gateway") + "```");
  }

  @Test
  void theRoleHasAllThatItNeeds() {
    try (Database database =
        Database.open(DATABASE.asLesserRole().settings(2), "lesser", new Observer())) {
      assertThat(database.read("rights", Grants::missing)).isEmpty();
      DATABASE.sql().execute("revoke insert on coatcheck.alias from " + LESSER.user());

      assertThat(database.read("rights", Grants::missing))
          .containsExactly("insert on coatcheck.alias");

      DATABASE.sql().execute(Grants.sql(LESSER.user()));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "update coatcheck.audit_entry set actor = 'nobody'",
        "delete from coatcheck.audit_entry",
        "truncate coatcheck.audit_entry",
        "drop table coatcheck.audit_entry",
        "alter table coatcheck.audit_entry disable trigger all",
        "delete from coatcheck.public_id",
        "delete from coatcheck.ending",
        "delete from coatcheck.api_key",
        "delete from coatcheck.type",
        "update coatcheck.flyway_schema_history set checksum = 1",
        "create table coatcheck.mine (n integer)",
        "create function coatcheck.mine() returns integer language sql return 1",
        "create schema mine",
      })
  void theRoleCanNotRewriteTheAuditOrDefineAnything(String statement) {
    AssertionError refused =
        catchThrowableOfType(AssertionError.class, () -> LESSER.execute(statement));

    assertThat(refused).as(statement).isNotNull();
    assertThat(TestSession.sqlState(refused)).isEqualTo(INSUFFICIENT_PRIVILEGE);
  }

  @Test
  void theNameOfARoleIsQuoted() {
    assertThat(Grants.sql("o\"dd")).contains(" to \"o\"\"dd\";\n");
    assertThat(Grants.fault("gateway")).isEmpty();
    assertThat(Grants.fault("")).isPresent();
    assertThat(Grants.fault("x".repeat(64))).isPresent();
    assertThat(Grants.fault("a\nb")).isPresent();
    assertThat(Grants.fault("public")).get().asString().contains("every role");
  }
}

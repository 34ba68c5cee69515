package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code coatcheck audit} at a gateway, and its pruning in a database of its own. */
class AuditCommandTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @TempDir static Path folder;

  @Test
  void changesAreListedAndExported() throws IOException {
    for (int i = 0; i < 105; i++) {
      assertThat(AtGateway.run("segments", "put", "listed_" + i).status()).isZero();
    }

    Terminal listed = AtGateway.run("audit", "list", "--action", "segment.put", "--limit", "103");
    assertThat(listed.status()).isZero();
    assertThat(listed.out().lines()).hasSize(103);
    assertThat(listed.out().lines().findFirst().orElseThrow())
        .contains(",test,segment.put,listed_104,");
    assertThat(listed.err()).contains("older entries");
    assertThat(AtGateway.run("audit", "list", "--subject", "listed_7", "--json").out())
        .startsWith("{\"object\":\"audit_entry\"")
        .contains("\"subjects\":[\"listed_7\"]");
    assertThat(AtGateway.run("audit", "list", "--limit", "0").status()).isEqualTo(2);
    assertThat(AtGateway.run("audit", "list", "--from", "soon").err()).contains("--from");

    Path file = folder.resolve("audit.ndjson");
    assertThat(AtGateway.run("audit", "export", "--output", file.toString()))
        .isEqualTo(new Terminal(0, "", ""));
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("linked"));
    Files.createFile(folder.resolve("linked"));
    assertThat(AtGateway.run("audit", "export", "--output", link.toString()).status()).isZero();
    assertThat(link).isSymbolicLink().hasSameTextualContentAs(file);
    assertThat(Files.readAllLines(file)).hasSize(105).allMatch(line -> line.startsWith("{"));
    assertThat(AtGateway.run("audit", "export", "--subject", "listed_7").out().lines()).hasSize(1);
  }

  @Test
  void oldEntriesArePrunedByAnEntryOfTheirOwn() {
    TestDatabase database = TestDatabase.fresh();
    database
        .sql()
        .execute(
            "insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)"
                + " select n, '2026-01-01T00:00:00Z', 'edge', 'type.put', '{charge}', '{}'"
                + " from generate_series(1, 3) as n",
            "update coatcheck.change_head set audited = 3");

    assertThat(prune(database, "--before=2026-01-02"))
        .isEqualTo(new Terminal(0, "pruned the entries 1 to 3\n", ""));
    assertThat(prune(database, "--before=2026-01-02").out()).isEqualTo("no entry is older\n");
    assertThat(database.sql().texts("select actor || ' ' || action from coatcheck.audit_entry"))
        .containsExactly("operator audit.prune");
    for (String odd : List.of("--before=2999-01-01", "--before=2026-13-01", "--before=now")) {
      assertThat(prune(database, odd).status()).as(odd).isEqualTo(2);
    }
  }

  /** A table of millions of entries takes longer than a request may. */
  @Test
  void aPruningHasMoreTimeThanARequest() throws Exception {
    TestDatabase database = withOneEntry();
    try (TestSession other = database.sql().begin("lock coatcheck.audit_entry in share mode");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Terminal> pruned = threads.submit(() -> prune(database, "--before=2026-01-02"));
      Awaitility.await()
          .until(
              () ->
                  database
                          .sql()
                          .number(
                              "select count(*) from pg_locks join pg_stat_activity using (pid)"
                                  + " where not granted"
                                  + " and clock_timestamp() - query_start > interval '1 s'")
                      == 1);
      other.execute("rollback");

      assertThat(pruned.get()).isEqualTo(new Terminal(0, "pruned the entries 1 to 1\n", ""));
    }
  }

  @Test
  void aRoleThatMayNotPruneHearsWhoMay() {
    TestDatabase serving = withOneEntry().asLesserRole();

    Terminal refused = prune(serving, "--before=2026-01-02", "--no-migrate");

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("Run it as the owner of the schema.").hasLineCount(1);
  }

  private static TestDatabase withOneEntry() {
    TestDatabase database = TestDatabase.fresh();
    database
        .sql()
        .execute(
            "insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)"
                + " values (1, '2026-01-01T00:00:00Z', 'edge', 'type.put', '{charge}', '{}')",
            "update coatcheck.change_head set audited = 1");
    return database;
  }

  private static Terminal prune(TestDatabase database, String... arguments) {
    List<String> all = new ArrayList<>(List.of("audit", "prune"));
    Collections.addAll(all, arguments);
    all.addAll(database.flags());
    return Terminal.run(all.toArray(String[]::new));
  }
}

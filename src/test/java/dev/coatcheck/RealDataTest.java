package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code ops/real-data}: the accounts of pgbench, there and back. */
@Tag("faults")
@Tag("alone")
class RealDataTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @TempDir static Path folder;

  private record Ended(int status, String output) {}

  @BeforeAll
  static void tools() {
    for (String tool : List.of("bash", "psql", "pgbench", "curl")) {
      assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
    }
  }

  @Test
  void theAccountsOfPgbenchComeBackAsTheyWent() throws Exception {
    Ended ended = realData("cat", List.of());

    assertThat(ended.status()).as(ended.output()).isZero();
    assertThat(ended.output().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("keys         100000   from: select aid"),
            line -> assertThat(line).startsWith("mint         100000 "),
            line -> assertThat(line).startsWith("resolve      100000 "),
            line -> assertThat(line).startsWith("lookup       100000 "),
            line -> assertThat(line).matches("redirect  302 https://shop.example/charges/ch_.{24}"),
            line -> assertThat(line).isEqualTo("all equal"));
  }

  @Test
  void anIdThatComesBackWrongIsNoticed() throws Exception {
    String few = "select n + 1000000 from generate_series(1, 50) n";

    // What lookup prints goes astray in its 30th line, or in none for the other verbs.
    assertFails(
        "a key looks up to another ID",
        "if [ $1 = lookup ]; then sed 30s/ch_/ch_0/; else cat; fi",
        few);
    assertFails(
        "an ID resolves to another key",
        "if [ $1 = resolve ]; then sed 50s/.$/x/; else cat; fi",
        few);
    assertFails(
        "the minted keys are not the keys", "if [ $1 = mint ]; then sed 7d; else cat; fi", few);
  }

  @Test
  void keysThatCantBeTakenAreSaid() throws Exception {
    assertFails(
        "the query gives a key more than once", "cat", "select 7 from generate_series(1, 2)");
    assertFails("the query gives no keys", "cat", "select 7 where false");
    assertFails("the keys could not be read", "cat", "select nothing");
    assertFails("mint failed", "cat", "select -7");
  }

  private static void assertFails(String reason, String filter, String query) throws Exception {
    Ended ended = realData(filter, List.of(query));
    assertThat(ended.output()).contains("real-data: " + reason);
    assertThat(ended.output()).doesNotContain("all equal");
    assertThat(ended.status()).isEqualTo(1);
  }

  private static Ended realData(String filter, List<String> query) throws Exception {
    TestDatabase table = TestDatabase.empty();
    List<String> command = new ArrayList<>();
    command.add(Path.of("ops", "real-data").toAbsolutePath().toString());
    command.add(table.url().replaceFirst("^jdbc:", ""));
    command.addAll(query);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("PGUSER", table.user());
    builder.environment().put("PGPASSWORD", table.password());
    builder.environment().put("COATCHECK_URL", GATEWAY.uri().toString());
    builder
        .environment()
        .put("COATCHECK_KEY_FILE", TestDatabase.fileWith(GATEWAY.key()).toString());
    builder
        .environment()
        .put(
            "COATCHECK_PROGRAM",
            CoatcheckProgram.writeFiltered(folder.resolve("coatcheck"), filter).toString());
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), output);
  }
}

package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.CoatcheckProgram;
import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the example in the {@code --help} of each verb. Only what a gateway makes up is replaced:
 * public IDs, the numbers of runs, the codes that a plan wants accepted; and files, which are
 * written first.
 */
@Timeout(600)
class HelpExamplesTest {
  private static final Pattern EXAMPLE = Pattern.compile("\nExample:\n  coatcheck (.*)\n$");
  private static final Pattern COMMAND = Pattern.compile("(?m)^  ([a-z][a-z-]+) ");
  private static final Pattern KEY_ID = Pattern.compile("[0-9A-Za-z]{12}(?=,active)");
  private static final String ID = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
  private static final String SURVIVOR = "ch_2wbCRIWJxGRzqNDIxGhnuFbN";

  @TempDir static Path folder;
  private static Dba dba;
  private static Path key;

  private final Set<String> run = new TreeSet<>();

  @BeforeAll
  static void open() throws Exception {
    dba =
        Dba.at(
            TestDatabase.fresh(),
            Map.of("COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString()),
            folder);
    key =
        Files.writeString(
            folder.resolve("all"),
            onDatabase(List.of("access", "create", "--name=all", "--scope=*")).out());
  }

  @AfterAll
  static void close() {
    dba.close();
  }

  @Test
  @Tag("faults")
  void theExampleOfEachVerbDoesWhatItSays() throws Exception {
    ofTypesAndIds();
    ofSealedTypes();
    ofKeys();
    ofTheMachine();
    assertThat(run).isEqualTo(verbs(false));
  }

  @Tag("faults")
  @Test
  void theExampleOfEachVerbOfTableMigrationsDoesWhatItSays() throws Exception {
    ofTableMigrations();
    ofOtherRuns();
    assertThat(run).isEqualTo(verbs(true));
  }

  private static Set<String> verbs(boolean areOfTableMigrations) {
    return verbs("").stream()
        .filter(verb -> verb.startsWith("migrate-table ") == areOfTableMigrations)
        .collect(Collectors.toSet());
  }

  private void ofTypesAndIds() throws IOException {
    String redirect = "https://shop.example/charges/{id}";
    assertThat(done("types put").out()).contains("charge,ch,bigint,snowflake," + redirect);
    assertThat(done("types list").out()).contains("charge,ch,");
    assertThat(done("types set").status()).isZero();
    assertThat(done("types get").out()).contains("redirect.max_age_seconds,60");
    Terminal diff = ran("types diff", Map.of());
    assertThat(diff.status()).as(diff.err()).isEqualTo(1);
    assertThat(diff.out()).contains("- redirect.template ", "+ redirect.template ");
    Path types = folder.resolve("types.yaml");
    Map<String, String> file =
        Map.of(
            "types.yaml",
            types.toString(),
            "src/main/java",
            folder.toString(),
            "src/public-ids.ts",
            folder.resolve("public-ids.ts").toString());
    done("types export", file);
    assertThat(types).content().startsWith("types:\n").contains("prefix: ch");
    assertThat(done("types plan", file).lines())
        .containsExactly("0 to create, 0 to change, 1 unchanged, 0 not in the file.");
    assertThat(done("types apply", file)).isEqualTo(new Terminal(0, "", ""));
    done("types generate java", file);
    assertThat(folder.resolve("com/example/shop/PublicIdTypes.java")).isRegularFile();
    done("types generate typescript", file);
    done("types legacy-hits");
    done("types legacy-callers");

    List<String> minted = done("mint").lines();
    assertThat(minted).hasSize(2);
    assertThat(done("lookup").lines()).isEqualTo(minted);
    Map<String, String> ids = Map.of(ID, id(minted.get(0)), SURVIVOR, id(minted.get(1)));
    assertThat(done("resolve", ids).lines()).containsExactly(minted.get(0));
    Path orders = folder.resolve("orders.csv");
    Files.writeString(orders, "type,key,legacy_id\ncharge,103,4711\n");
    assertThat(done("ids import", Map.of("orders.csv", orders.toString())).out())
        .isEqualTo("1 rows: 1 created, 0 existing, 0 refused.\n");
    assertThat(done("find").out()).contains("what,legacy_id\n", "key,103\n");
    done("ids aliases", ids);
    Path charges = folder.resolve("charges.csv");
    done("ids export", Map.of("charges.csv", charges.toString()));
    assertThat(charges).content().contains("charge,101,", "charge,103,4711,");
    assertThat(done("ids merge", ids).out()).startsWith("merged ");
    assertThat(done("ids erase", ids).out()).startsWith("erased ");
    assertThat(done("ids revoke", Map.of(ID, ids.get(SURVIVOR))).out()).startsWith("revoked ");
    assertThat(done("inspect").out()).contains("ulid");
  }

  private void ofSealedTypes() throws IOException {
    Map<String, String> file = Map.of("seal.keys", folder.resolve("seal.keys").toString());
    String made = done("types seal-key new", file).out();
    assertThat(done("types seal-key list", file).out()).contains(made.strip());
    assertThat(
            dba.send(
                    List.of(
                        "types",
                        "put",
                        "message",
                        "--prefix=msg",
                        "--sealed-from=2023-01-01T00:00:00Z",
                        "--seal-key=" + TestSealKeys.FIRST))
                .err())
        .isEmpty();
    assertThat(done("types era", Map.of("8d0c5a7e2f9b4613", TestSealKeys.SECOND)).out())
        .contains(TestSealKeys.SECOND);
    Path keys = Files.createFile(folder.resolve("keys.txt"));
    Map<String, String> leaked =
        Map.of("3fb2c09d11e86a47", TestSealKeys.FIRST, "keys.txt", keys.toString());
    assertThat(done("types pin", leaked).out()).startsWith("0,0,");
    Terminal check = ran("types seal-key check", file);
    assertThat(check.status()).as(check.err()).isEqualTo(1);
    assertThat(check.out()).contains("message,", "lacks it");
  }

  private void ofKeys() {
    assertThat(done("keys next").lines()).hasSize(3);
    assertThat(done("keys bounds").out()).matches("[0-9]+,[0-9]+\n");
    assertThat(done("keys list").out()).contains(",held,");
    assertThat(done("keys fence").out()).contains("nothing was done");
    Path state = folder.resolve("snos.state");
    assertThat(done("keys sno", Map.of("snos.state", state.toString())).lines()).hasSize(3);
    assertThat(done("segments put").out()).startsWith("invoice,0,");
    assertThat(done("segments list").out()).startsWith("invoice,0,");
  }

  private void ofTheMachine() throws Exception {
    String made = onDatabase(example("access create", Map.of())).out();
    assertThat(made).startsWith("ccg_live_");
    Terminal list = onDatabase(example("access list", Map.of()));
    String keyId =
        KEY_ID
            .matcher(
                list.lines().stream()
                    .filter(line -> line.endsWith(",edge"))
                    .findAny()
                    .orElseThrow())
            .results()
            .findFirst()
            .orElseThrow()
            .group();
    Map<String, String> keyIds = Map.of("key_4KIWSf8WvPN0", "key_" + keyId);
    assertThat(onDatabase(example("access show", keyIds)).out()).contains("edge");
    assertThat(onDatabase(example("access patch", keyIds)).out()).contains("10.0.0.0/8");
    assertThat(onDatabase(example("access rotate", keyIds)).out()).startsWith("ccg_live_");
    assertThat(onDatabase(example("access revoke", keyIds)).out())
        .isEqualTo("revoked key_" + keyId + "\n");
    Path entries = folder.resolve("audit.ndjson");
    assertThat(done("audit list").out()).contains("type.put");
    done("audit export", Map.of("audit.ndjson", entries.toString()));
    assertThat(entries).content().contains("\"action\":\"type.put\"");
    onDatabase(example("audit prune", Map.of()));
    onDatabase(beforeWord("--database-user", example("database migrate", Map.of())));
    List<String> grants = beforeWord("|", example("database grants", Map.of()));
    assertThat(Terminal.run(words(grants)).out()).contains("to \"coatcheck_gateway\"");
    assertThat(Terminal.run(words(example("completion", Map.of()))).out()).contains("coatcheck");
    for (String verb : List.of("database distribute", "database rebalance")) {
      List<String> onPlainPostgres = new ArrayList<>(example(verb, Map.of()));
      onPlainPostgres.addAll(dba.database.flags());
      assertThat(Terminal.run(words(onPlainPostgres)).err()).contains("create extension citus");
    }
    List<String> health = new ArrayList<>(example("health", Map.of()));
    health.add("--port=" + dba.gateway.url().replaceFirst(".*:", ""));
    assertThat(Terminal.run(words(health))).isEqualTo(new Terminal(0, "", ""));
    List<String> serve = new ArrayList<>(example("serve", Map.of("8080", "0")));
    serve.addAll(dba.database.flags());
    serve.add("--seal-keys-file=" + TestSealKeys.file());
    says("Coatcheck listens on http://", serve);
    says("Coatcheck demo: ", example("demo", Map.of()));
  }

  /** In a process of its own, which runs until it is told to stop. */
  private static void says(String greeting, List<String> verb) throws Exception {
    List<String> command = new ArrayList<>(verb);
    command.addFirst(CoatcheckProgram.write(folder.resolve("coatcheck")).toString());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("COATCHECK_DATABASE_CONNECTIONS", "4");
    Process process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (BufferedReader said = process.inputReader()) {
      assertThat(said.lines().anyMatch(line -> line.startsWith(greeting))).isTrue();
    } finally {
      process.destroy();
      process.waitFor();
    }
  }

  /** One table from its plan to the end. */
  private void ofTableMigrations() {
    dba.execute(
        "create schema shop",
        "create table shop.orders (id bigserial primary key, created_at timestamptz)",
        "insert into shop.orders select n, now() - interval '1 day' from generate_series(1, 50) n");
    assertThat(dba.send(List.of("types", "put", "order", "--prefix=ord")).status()).isZero();
    Terminal plan = done("migrate-table plan");
    String id = Dba.id(plan);
    Map<String, String> seven = Map.of("7", id);
    String next = plan.lines().getLast();
    assertThat(done("migrate-table set", seven).out()).contains("rows_per_second_max: 2000\n");
    Map<String, String> accepted =
        Map.of("7", id, "keys_as_strings", next.substring(next.lastIndexOf(' ') + 1));
    assertThat(done("migrate-table start", accepted).out()).contains("50 of 50 rows");
    assertThat(done("migrate-table status", seven).out()).contains("is done");
    assertThat(done("migrate-table verify", seven).out()).contains("no errors found.");
    Map<String, String> open =
        Map.of(
            "7", id,
            "2099-01-31T02:00:00Z", "2026-01-01T00:00:00Z",
            "2099-01-31T04:00:00Z", "2999-01-01T00:00:00Z");
    assertThat(done("migrate-table switch", open).out()).contains("[x] switch");
    assertThat(done("migrate-table undo", seven).out()).contains("Undone: switch");
    done("migrate-table switch", open);
    assertThat(done("migrate-table old-columns", seven).out()).contains("shop.orders.id");
    assertThat(done("migrate-table contract", seven).out()).contains("is contracted");
    assertThat(done("migrate-table retire", seven).out()).contains("it is retired");
    assertThat(done("migrate-table forget", seven).out()).startsWith("The archive of shop.orders");
  }

  private void ofOtherRuns() throws IOException {
    dba.table("parcel", 300);
    String id = slowRun("parcel");
    assertThat(done("migrate-table pause", Map.of("7", id)).out()).contains("is paused");
    assertThat(dba.run("set", id, "--rows-per-second-max=0").status()).isZero();
    assertThat(done("migrate-table resume", Map.of("7", id)).out()).contains("is done");
    String ofSeven =
        "from coatcheck.alias where value = '7' and type_id ="
            + " (select type_id from coatcheck.type where name = 'parcel')";
    dba.execute("create table public.kept as select * " + ofSeven, "delete " + ofSeven);
    assertThat(dba.run("verify", id).status()).isEqualTo(1);
    dba.execute("insert into coatcheck.alias select * from public.kept");
    done("migrate-table retry", Map.of("7", id));

    dba.table("letter", 300);
    assertThat(done("migrate-table cancel", Map.of("7", slowRun("letter"))).out())
        .contains("is cancelled");

    dba.table("card", 3);
    Path file = Files.writeString(folder.resolve("old.csv"), "legacy_id,created_at\n1,\n2,\n3,\n");
    String planned = Dba.id(dba.run("plan", "--table=card", "--type=card"));
    assertThat(done("migrate-table import", Map.of("7", planned, "old.csv", file.toString())).out())
        .isEqualTo("3 rows: 3 created, 0 existing, 0 refused.\n");
  }

  private static String slowRun(String table) {
    Terminal plan = dba.run("plan", "--table=" + table, "--type=" + table);
    String id = Dba.id(plan);
    dba.run("set", id, "--rows-per-second-max=10");
    assertThat(dba.start(plan, "--detach").status()).isZero();
    return id;
  }

  private Terminal done(String verb) {
    return done(verb, Map.of());
  }

  private Terminal done(String verb, Map<String, String> others) {
    Terminal done = ran(verb, others);
    assertThat(done.status()).as("%s: %s", verb, done.err()).isZero();
    return done;
  }

  private Terminal ran(String verb, Map<String, String> others) {
    List<String> words = new ArrayList<>(example(verb, others));
    if (!Set.of(
            "keys sno",
            "types seal-key new",
            "types seal-key list",
            "types generate java",
            "types generate typescript")
        .contains(verb)) {
      words.add("--url=" + dba.gateway.url());
      words.add("--key-file=" + key);
    }
    return Terminal.run(words(words));
  }

  /** The words of the example, with others for those that a gateway makes up. */
  private List<String> example(String verb, Map<String, String> others) {
    run.add(verb);
    List<String> words = new ArrayList<>(List.of(verb.split(" ", -1)));
    words.add("--help");
    var example = EXAMPLE.matcher(Terminal.run(words(words)).out().replaceAll("\\\\\n +", ""));
    assertThat(example.find()).as(verb).isTrue();
    return List.of(example.group(1).split(" ", -1)).stream()
        .map(word -> others.getOrDefault(word, word))
        .toList();
  }

  private static List<String> beforeWord(String word, List<String> example) {
    return example.subList(0, example.indexOf(word));
  }

  private static Terminal onDatabase(List<String> arguments) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(dba.database.flags());
    Terminal done = Terminal.run(words(all));
    assertThat(done.status()).as(done.err()).isZero();
    return done;
  }

  private static String[] words(List<String> words) {
    return words.toArray(String[]::new);
  }

  private static String id(String row) {
    return row.replaceFirst(",.*", "");
  }

  /** All verbs, as the help of their groups lists them. */
  private static Set<String> verbs(String group) {
    List<String> help = new ArrayList<>(List.of(group.split(" ", -1)));
    help.removeIf(String::isEmpty);
    help.add("--help");
    String[] parts = Terminal.run(words(help)).out().split("\nCommands:\n", 2);
    if (parts.length == 1) {
      return Set.of(group);
    }
    Set<String> all = new TreeSet<>();
    COMMAND
        .matcher(parts[1].split("\nExit codes:", 2)[0])
        .results()
        .forEach(command -> all.addAll(verbs((group + " " + command.group(1)).strip())));
    return all;
  }
}

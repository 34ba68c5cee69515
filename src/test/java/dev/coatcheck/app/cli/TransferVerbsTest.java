package dev.coatcheck.app.cli;

import static dev.coatcheck.app.cli.AtGateway.run;
import static dev.coatcheck.app.cli.AtGateway.runWith;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.Main;
import dev.coatcheck.TestJvm;
import dev.coatcheck.api.routes.GatewayFixture;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** {@code ids import} and {@code ids export}. */
class TransferVerbsTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final JsonMapper JSON = new JsonMapper();

  @TempDir static Path folder;

  @BeforeAll
  static void start() {
    for (String name : List.of("charge", "parts", "person")) {
      run("types", "put", name, "--prefix=" + name);
    }
  }

  @Test
  void badRowsAreSetAsideToBeCorrectedAndImported() throws IOException {
    Path file = folder.resolve("some.csv");
    Files.writeString(file, "\uFEFFkey,type\r\n1,charge\r\n\r\nx,charge\r\n2,charge\r\n\"3,charge");

    Terminal first = run("ids", "import", file.toString());

    Path rejected = folder.resolve("some.csv.rejected.csv");
    Path reasons = folder.resolve("some.csv.rejected.txt");
    assertThat(first.out()).isEqualTo("4 rows: 2 created, 0 existing, 2 refused.\n");
    assertThat(first.status()).isEqualTo(1);
    assertThat(first.err())
        .isEqualTo(
            "coatcheck ids import: the refused rows are in %s, the reasons in %s.%n"
                .formatted(rejected, reasons));
    assertThat(rejected).hasContent("key,type\nx,charge\n\"3,charge\n");
    assertThat(Files.readAllLines(reasons).stream().map(line -> line.replaceAll("\\. .*", "")))
        .containsExactly("line 4: key_malformed", "line 6: row_malformed");
    assertThat(folder.resolve("some.csv.coatcheck-resume")).doesNotExist();

    Files.writeString(rejected, "key,type\n4,charge\n\"3\",charge\n");
    assertThat(run("ids", "import", rejected.toString()))
        .isEqualTo(new Terminal(0, "2 rows: 2 created, 0 existing, 0 refused.\n", ""));
    // Once more, and nothing is left of the earlier rejections.
    Files.writeString(file, "key,type\n1,charge\n");
    assertThat(run("ids", "import", file.toString()))
        .isEqualTo(new Terminal(0, "1 rows: 0 created, 1 existing, 0 refused.\n", ""));
    assertThat(rejected).doesNotExist();
    assertThat(reasons).doesNotExist();
  }

  @Test
  void aFileOfManyPartsKeepsItsLineNumbersAndComesBackAsItWent() throws IOException {
    Path file = folder.resolve("parts.ndjson");
    List<String> rows = new ArrayList<>();
    for (int i = 1; i <= 60_000; i++) {
      rows.add("{\"type\":\"parts\",\"key\":\"" + (i % 24_999 == 0 ? "x" : i) + "\"}");
    }
    Files.write(file, rows);

    assertThat(run("ids", "import", file.toString()).out())
        .isEqualTo("60000 rows: 59998 created, 0 existing, 2 refused.\n");
    assertThat(Files.readAllLines(folder.resolve("parts.ndjson.rejected.txt")))
        .extracting(line -> line.replaceAll("\\. .*", ""))
        .containsExactly("line 24999: key_malformed", "line 49998: key_malformed");
    assertThat(Files.readAllLines(folder.resolve("parts.ndjson.rejected.ndjson")))
        .containsExactly(
            "{\"type\":\"parts\",\"key\":\"x\"}", "{\"type\":\"parts\",\"key\":\"x\"}");

    Path out = folder.resolve("parts.csv");
    assertThat(run("ids", "export", "parts", "--output=" + out)).isEqualTo(new Terminal(0, "", ""));
    List<String> lines = Files.readAllLines(out);
    assertThat(lines).hasSize(59_999);
    assertThat(lines.getLast()).startsWith("parts,60000,,");
    assertThat(run("ids", "import", out.toString()).out())
        .isEqualTo("59998 rows: 0 created, 59998 existing, 0 refused.\n");
  }

  @Test
  void rowsOfStandardInputAreImportedAndRefusedRowsAreSetAside() throws IOException {
    run("types", "put", "piped", "--prefix=piped");
    String rows = "type,key\npiped,1\npiped,x\npiped,2\n";

    Terminal first = runWith(rows, "ids", "import", "-", "--format=csv");

    Path rejected = Path.of("stdin.rejected.csv");
    Path reasons = Path.of("stdin.rejected.txt");
    try {
      assertThat(first.out()).isEqualTo("3 rows: 2 created, 0 existing, 1 refused.\n");
      assertThat(first.err()).contains("the refused rows are in stdin.rejected.csv");
      assertThat(rejected).hasContent("type,key\npiped,x\n");
      assertThat(reasons).content().startsWith("line 3: key_malformed. ");
      assertThat(
              runWith(
                  "{\"type\":\"piped\",\"key\":\"1\"}\n",
                  "ids",
                  "import",
                  "-",
                  "--format=ndjson",
                  "--json"))
          .satisfies(
              again ->
                  assertThat(JSON.readTree(again.out()))
                      .isEqualTo(
                          JSON.readTree(
                              "{\"rows\":1,\"created\":0,\"existing\":1,\"refused\":0}")));
    } finally {
      Files.deleteIfExists(rejected);
      Files.deleteIfExists(reasons);
    }
    assertThat(Path.of("stdin.coatcheck-resume")).doesNotExist();
    assertThat(runWith(rows, "ids", "import", "-").err()).contains("add --format csv");
  }

  @Test
  void anExportGoesToStandardOutput() throws IOException {
    Path file = folder.resolve("out.csv");
    Files.writeString(file, "type,key,created_at\nperson,5,2020-01-01T00:00:00Z\n");
    assertThat(run("ids", "import", file.toString()).status()).isZero();

    Terminal export = run("ids", "export", "person", "--format=ndjson");

    assertThat(export.status()).isZero();
    assertThat(export.out())
        .matches(
            "\\{\"type\":\"person\",\"key\":\"5\",\"created_at\":\"2020-01-01T00:00:00.000000Z\","
                + "\"public_id\":\"person_[0-9A-Za-z]{24}\"}\n");
  }

  /** As {@code coatcheck ids export … | head -1} does. */
  @Test
  @Tag("faults")
  void anExportWhoseReaderEndsEndsAtOnceAndWithoutAWord() throws Exception {
    run("types", "put", "headed", "--prefix=headed");
    Path file = folder.resolve("headed.csv");
    Files.writeString(
        file,
        LongStream.rangeClosed(1, 300_000)
            .mapToObj(key -> "headed," + key + "\n")
            .collect(Collectors.joining("", "type,key\n", "")));
    assertThat(run("ids", "import", file.toString()).status()).isZero();
    Path errors = folder.resolve("errors");
    Process export =
        TestJvm.running(Main.class, AtGateway.arguments("ids", "export", "headed"))
            .redirectError(errors.toFile())
            .start();

    try (BufferedReader head = export.inputReader()) {
      assertThat(head.readLine()).startsWith("type,key,");
    }

    assertThat(export.waitFor()).isEqualTo(141);
    assertThat(errors).isEmptyFile();
    Awaitility.await("the end of the export at the gateway")
        .until(
            () ->
                GATEWAY
                        .sql()
                        .number(
                            "select count(*) from pg_stat_activity"
                                + " where application_name = 'coatcheck export'"
                                + " and datname = current_database()")
                    == 0);
  }

  @Test
  void anExportToAFullDiskSaysSo() throws Exception {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "no " + full);
    Path errors = folder.resolve("full");
    Process export =
        TestJvm.running(Main.class, AtGateway.arguments("ids", "export", "charge"))
            .redirectOutput(full.toFile())
            .redirectError(errors.toFile())
            .start();

    assertThat(export.waitFor()).isEqualTo(1);
    assertThat(errors)
        .hasContent("coatcheck ids export: standard output can't be written. Is the disk full?\n");
  }

  @Test
  void aFullDiskIsToldWithTheFileThatCanNotBeWritten() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "no " + full);

    assertThat(run("ids", "export", "charge", "--output=" + full))
        .isEqualTo(
            new Terminal(
                1, "", "coatcheck ids export: can't write /dev/full: No space left on device.\n"));

    Path rows = Files.writeString(folder.resolve("full.csv"), "type,key\ncharge,x\n");
    Path rejected = Files.createSymbolicLink(folder.resolve("full.csv.rejected.csv"), full);
    assertThat(run("ids", "import", rows.toString()))
        .isEqualTo(
            new Terminal(
                1,
                "",
                "coatcheck ids import: can't read or write %s: No space left on device.\n"
                    .formatted(rejected)));
  }

  @Test
  void aHyphenIsStandardOutputAndNoFile() {
    for (String[] verb :
        List.of(
            new String[] {"ids", "export", "charge"},
            new String[] {"types", "export"},
            new String[] {"audit", "export", "--to=2000-01-01T00:00:00Z"})) {
      String[] hyphen = Arrays.copyOf(verb, verb.length + 1);
      hyphen[verb.length] = "--output=-";
      assertThat(run(hyphen)).isEqualTo(run(verb));
    }
    assertThat(Path.of("-")).doesNotExist();
  }

  @Test
  void anExportMakesTheFolderOfItsFileOrSaysWhyNot() {
    Path file = folder.resolve("new/folder/charges.csv");

    assertThat(run("ids", "export", "charge", "--output=" + file).status()).isZero();

    assertThat(file).isRegularFile();
    Path below = file.resolve("charges.csv");
    assertThat(run("ids", "export", "charge", "--output=" + below))
        .isEqualTo(
            new Terminal(
                1,
                "",
                "coatcheck ids export: can't write %s: %s is no folder.\n".formatted(below, file)));
  }

  @Test
  void whatCanNotBeginSaysWhy() throws IOException {
    Path odd = folder.resolve("odd.csv");
    Files.writeString(odd, "type,name\ncharge,1\n");
    Path unnamed = folder.resolve("unnamed.data");
    Files.writeString(unnamed, "");
    Path empty = folder.resolve("empty.csv");
    Files.writeString(empty, "");

    assertThat(run("ids", "import", odd.toString()).err())
        .containsPattern("Unknown: column [0-9]+[.]");
    assertThat(run("ids", "import", unnamed.toString()).status()).isEqualTo(2);
    assertThat(run("ids", "import", empty.toString()).err()).contains("The body is empty.");
    assertThat(run("ids", "import", folder.resolve("none.csv").toString()).err())
        .startsWith("coatcheck ids import: there is no file ");
    assertThat(run("ids", "export", "nosuchtype").err()).contains("type_unknown");
    assertThat(folder.resolve("odd.csv.coatcheck-resume")).doesNotExist();
  }

  @Test
  void aFileThatChangedMeanwhileIsNotGoneOnWith() throws IOException {
    Path file = folder.resolve("changed.csv");
    Files.writeString(file, "type,key\ncharge,1\n");
    Files.writeString(
        folder.resolve("changed.csv.coatcheck-resume"),
        """
        {"url": "http://elsewhere", "size": 1, "modifiedMillis": 1, "offset": 1, "lines": 1,
         "created": 0, "existing": 0, "refused": 0, "rejectedBytes": 0, "reasonsBytes": 0}
        """);

    Terminal refused = run("ids", "import", file.toString());

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("Delete ").contains("changed.csv.coatcheck-resume");
  }
}

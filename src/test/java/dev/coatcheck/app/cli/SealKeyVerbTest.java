package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.Main;
import dev.coatcheck.TestJvm;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code types seal-key}, and a sealed type whose file is lost and restored. */
class SealKeyVerbTest {
  @TempDir Path folder;

  private Path file() {
    return folder.resolve("seal.keys");
  }

  private String made() {
    Terminal made = Terminal.run("types", "seal-key", "new", "--file=" + file(), "--json");
    assertThat(made.err()).isEmpty();
    return made.out().replaceAll("(?s).*\"([0-9a-f]{16})\".*", "$1");
  }

  @Test
  void aNewKeyIsAddedForItsOwnerAloneAndNeverShown() throws Exception {
    String first = made();
    String second = made();

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
    assertThat(SealKeys.read(file()))
        .isInstanceOfSatisfying(
            SealKeys.Parsed.Valid.class,
            valid -> assertThat(valid.keys().fingerprints()).containsExactly(first, second));
    Terminal listed = Terminal.run("types", "seal-key", "list", "--file=" + file());
    assertThat(listed.lines()).contains(first, second);
    for (String secret :
        Files.readAllLines(file()).stream().filter(line -> line.length() == 64).toList()) {
      assertThat(listed.out()).doesNotContain(secret);
    }
  }

  @Test
  void aLastLineWithoutAnEndIsEndedFirst() throws Exception {
    String first = made();
    Files.writeString(file(), Files.readString(file()).stripTrailing());

    String second = made();

    assertThat(Terminal.run("types", "seal-key", "list", "--file=" + file()).lines())
        .contains(first, second);
  }

  /** A gateway would not start with half a key. */
  @Test
  void aKeyThatDoesNotFitOnTheDiskLeavesTheFileAsItWas() throws Exception {
    made();
    String more = "# " + "x".repeat(512 - 30 - Math.toIntExact(Files.size(file())) - 3) + "\n";
    String before = Files.readString(Files.writeString(file(), more, StandardOpenOption.APPEND));
    ProcessBuilder program =
        TestJvm.running(Main.class, "types", "seal-key", "new", "--file=" + file());
    // The limit of a file's size is one block, of 512 bytes.
    program.command().addAll(0, List.of("sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"));

    Process refused = program.redirectError(ProcessBuilder.Redirect.PIPE).start();

    String error = new String(refused.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(refused.waitFor()).as(error).isEqualTo(1);
    assertThat(error).contains("can't write the seal keys to " + file() + ": ");
    assertThat(Files.readString(file())).isEqualTo(before);
  }

  @Test
  void aFileThatIsNoFileOfKeysIsLeftAlone() throws Exception {
    Files.writeString(file(), "a diary\n");
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-------"));

    Terminal refused = Terminal.run("types", "seal-key", "new", "--file=" + file());

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("line 1").hasLineCount(1);
    assertThat(Files.readString(file())).isEqualTo("a diary\n");
    assertThat(Terminal.run("types", "seal-key", "list").status()).isEqualTo(2);
  }

  /** What the page about sealed types says to do. */
  @Test
  void aTypeIsSealedAndItsLostKeysAreRestored() throws Exception {
    String key = made();
    Path backup = Files.copy(file(), folder.resolve("backup"), StandardCopyOption.COPY_ATTRIBUTES);
    String next = made();
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", file().toString())) {
      List<String> at =
          List.of("--url=" + gateway.uri(), "--key-file=" + TestDatabase.fileWith(gateway.key()));
      assertThat(
              on(
                      at,
                      "types",
                      "put",
                      "message",
                      "--prefix=msg",
                      "--sealed-from=2023-01-01T00:00:00Z",
                      "--seal-key=" + key)
                  .err())
          .isEmpty();
      assertThat(on(at, "types", "get", "message").lines()).contains("sealed.seal_key," + key);
      assertThat(on(at, "types", "diff", "message", "--prefix=msg").status()).isZero();
      assertThat(on(at, "types", "set", "message", "--on-outage=refuse").err()).isEmpty();
      assertThat(on(at, "types", "seal-key", "check", "--file=" + file()).lines())
          .anyMatch(line -> line.contains(key) && line.contains("has it"));
      assertThat(on(at, "types", "era", "message", "--seal-key=" + next).lines())
          .anyMatch(line -> line.contains(next));

      Terminal lacking = on(at, "types", "seal-key", "check", "--file=" + backup);
      assertThat(lacking.status()).isEqualTo(1);
      assertThat(lacking.lines())
          .anyMatch(line -> line.contains(next) && line.contains("lacks it"));
    }
  }

  /** The leak drill of the page about sealed types, step by step. */
  @Test
  void aLeakedSealKeyIsPinnedClosedAndDestroyed() throws Exception {
    String leaked = made();
    String next = made();
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", file().toString())) {
      List<String> at = at(gateway);
      put(at, leaked);
      List<String> minted = new ArrayList<>();
      List<String> keys = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        minted.add(gateway.client().mint("message").text("/id"));
        keys.add(gateway.client().get("/v1/ids/" + minted.get(i)).text("/key"));
      }
      Path pinned = Files.write(folder.resolve("keys.txt"), keys.subList(0, 4));

      assertThat(on(at, "types", "era", "message", "--seal-key=" + next).err()).isEmpty();
      String[] pin = {"types", "pin", "message", "--era=" + leaked};
      assertThat(on(at, with(pin, "--file=" + pinned)).lines())
          .anyMatch(line -> line.startsWith("4,0,"));
      assertThat(on(at, with(pin, "--file=" + pinned, "--close")).lines())
          .anyMatch(line -> line.startsWith("0,4,,2"));
      assertThat(gateway.client().get("/v1/ids/" + minted.getFirst()).status()).isEqualTo(200);
      assertThat(gateway.client().get("/v1/ids/" + minted.getLast()).status()).isEqualTo(404);
      assertThat(on(at, pin).status()).isEqualTo(2);
      assertThat(on(at, with(pin, "--file=" + folder)).status()).as("nothing done").isEqualTo(2);

      List<String> lines = new ArrayList<>(Files.readAllLines(file()));
      int named =
          lines.indexOf(lines.stream().filter(l -> l.contains(leaked)).findFirst().orElseThrow());
      lines.subList(named, named + 2).clear(); // its fingerprint, and the key itself below
      Files.write(file(), lines);
      assertThat(Terminal.run("types", "seal-key", "list", "--file=" + file()).lines())
          .containsExactly(next);
      assertThat(on(at, "types", "seal-key", "check", "--file=" + file()))
          .satisfies(check -> assertThat(check.status()).isZero())
          .satisfies(check -> assertThat(check.out()).contains("needs it no more"));
      try (GatewayFixture restarted =
          GatewayFixture.on(gateway.database, "COATCHECK_SEAL_KEYS_FILE", file().toString())) {
        TestClient client = restarted.client();
        assertThat(client.get("/v1/ids/" + minted.getFirst()).text("/key"))
            .isEqualTo(keys.getFirst());
        assertThat(client.get("/v1/types/message/keys/" + keys.getFirst()).text("/id"))
            .isEqualTo(minted.getFirst());
        assertThat(client.mint("message").status()).isEqualTo(201);
        assertThat(client.send("POST", "/v1/ids/" + minted.getFirst() + "/erase", null).status())
            .isEqualTo(200);
        assertThat(client.get("/v1/ids/" + minted.getFirst()).status()).isEqualTo(410);
      }
    }
  }

  /** Exit code 2 says that nothing was done. */
  @Test
  void keysThatCannotAllBeReadFailThePinThatHasBegun() throws Exception {
    String key = made();
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", file().toString())) {
      List<String> at = at(gateway);
      put(at, key);
      String id = gateway.client().mint("message").text("/id");
      long first = Long.parseLong(gateway.client().get("/v1/ids/" + id).text("/key"));
      String keys =
          LongStream.range(first, first + BatchCalls.ITEMS_MAX)
              .mapToObj(each -> each + "\n")
              .collect(Collectors.joining());
      InputStream before = System.in;
      System.setIn(new SequenceInputStream(stream(keys), new Broken()));
      try {
        Terminal failed = on(at, "types", "pin", "message", "--era=" + key, "--file=-");

        assertThat(failed.status()).isEqualTo(1);
        assertThat(failed.err())
            .contains("can't read keys from -: broken. The keys before were sent;")
            .hasLineCount(1);
      } finally {
        System.setIn(before);
      }
      assertThat(gateway.database.sql().number("select count(*) from coatcheck.public_id"))
          .isEqualTo(BatchCalls.ITEMS_MAX);
    }
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static final class Broken extends InputStream {
    @Override
    public int read() throws IOException {
      throw new IOException("broken");
    }

    @Override
    public int read(byte[] into, int from, int bytesMax) throws IOException {
      return read();
    }
  }

  /** The restore drill: a gateway without its keys does not start, and with them gives the same. */
  @Test
  void aLostFileIsRestoredFromItsBackup() throws Exception {
    String key = made();
    Path backup = Files.copy(file(), folder.resolve("backup"), StandardCopyOption.COPY_ATTRIBUTES);
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", file().toString())) {
      put(at(gateway), key);
      String id = gateway.client().mint("message").text("/id");
      String ofKey = gateway.client().get("/v1/ids/" + id).text("/key");
      Files.delete(file());
      made(); // another key does not help

      assertThatThrownBy(
              () ->
                  GatewayFixture.on(
                      gateway.database, "COATCHECK_SEAL_KEYS_FILE", file().toString()))
          .hasMessageContaining("needs the seal key " + key);

      Files.copy(
          backup, file(), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
      try (GatewayFixture restored =
          GatewayFixture.on(gateway.database, "COATCHECK_SEAL_KEYS_FILE", file().toString())) {
        assertThat(restored.client().get("/v1/ids/" + id).text("/key")).isEqualTo(ofKey);
        assertThat(restored.client().mint("message", "key", ofKey).text("/id")).isEqualTo(id);
      }
    }
  }

  private static List<String> at(GatewayFixture gateway) {
    return List.of("--url=" + gateway.uri(), "--key-file=" + TestDatabase.fileWith(gateway.key()));
  }

  private static void put(List<String> at, String key) {
    assertThat(
            on(
                    at,
                    "types",
                    "put",
                    "message",
                    "--prefix=msg",
                    "--sealed-from=2023-01-01T00:00:00Z",
                    "--seal-key=" + key)
                .err())
        .isEmpty();
  }

  private static String[] with(String[] verb, String... more) {
    return Stream.concat(Arrays.stream(verb), Arrays.stream(more)).toArray(String[]::new);
  }

  private static Terminal on(List<String> at, String... arguments) {
    return Terminal.run(
        Stream.concat(Arrays.stream(arguments), at.stream()).toArray(String[]::new));
  }
}

package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
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

  private static Terminal on(List<String> at, String... arguments) {
    return Terminal.run(
        Stream.concat(Arrays.stream(arguments), at.stream()).toArray(String[]::new));
  }
}

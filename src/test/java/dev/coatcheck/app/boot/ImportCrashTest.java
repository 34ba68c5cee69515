package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.embedded.TestHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An import whose command, and then whose gateway, is killed in the middle. */
@Tag("faults")
class ImportCrashTest {
  private static final int ROWS = 200_000;

  @Test
  void theSameCommandAgainEndsWithExactlyTheRowsOfTheFile() throws Exception {
    try (TestHome home = TestHome.fresh()) {
      Path file = home.folder().resolve("rows.csv");
      List<String> keys = writeFile(file);
      Path resume = home.folder().resolve("rows.csv.coatcheck-resume");
      GatewayChild first = GatewayChild.serve(home.path());
      String[] command = command(first, home, file);
      new TestClient(first.uri(), key(home)).put(TestType.of("charge", "ch"));

      Process killed = GatewayChild.start(command);
      await().until(() -> Files.exists(resume));
      killed.destroyForcibly().waitFor();
      String reached = Files.readString(resume);

      Process robbed = GatewayChild.start(command);
      await().until(() -> differs(resume, reached));
      first.kill();
      // It tries again for a while; whether the gateway is back by then is a matter of the machine.
      try (GatewayChild second = GatewayChild.serve(home.path(), first.uri().getPort())) {
        robbed.waitFor();
        assertThat(GatewayChild.run(command).status()).isZero();
        assertThat(resume).doesNotExist();

        Path out = home.folder().resolve("out.csv");
        assertThat(
                GatewayChild.run(
                        "ids",
                        "export",
                        "charge",
                        "--output=" + out,
                        "--url=" + second.uri(),
                        "--key-file=" + home.path().resolve("dev-key"))
                    .status())
            .isZero();
        assertThat(Files.readAllLines(out).stream().skip(1).map(line -> line.split(",", 3)[1]))
            .isEqualTo(keys);
      }
    }
  }

  /** Also where it is gone, because the import is through. */
  private static boolean differs(Path file, String text) throws IOException {
    try {
      return !Files.readString(file).equals(text);
    } catch (java.nio.file.NoSuchFileException through) {
      return true;
    }
  }

  private static List<String> writeFile(Path file) throws IOException {
    List<String> keys = new ArrayList<>();
    StringBuilder rows = new StringBuilder("type,key\n");
    for (int i = 0; i < ROWS; i++) {
      String key = String.valueOf(514_719_115_370_328_064L + i * 3L);
      keys.add(key);
      rows.append("charge,").append(key).append('\n');
    }
    Files.writeString(file, rows);
    return keys;
  }

  private static String key(TestHome home) throws IOException {
    return Files.readString(home.path().resolve("dev-key")).strip();
  }

  private static String[] command(GatewayChild gateway, TestHome home, Path file) {
    return new String[] {
      "ids",
      "import",
      file.toString(),
      "--url=" + gateway.uri(),
      "--key-file=" + home.path().resolve("dev-key")
    };
  }
}

package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.CoatcheckProgram;
import dev.coatcheck.postgres.embedded.TestHome;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainCommandTest {
  /** All that a verb loads would be loaded at every start of a gateway too. */
  @Test
  @Tag("faults")
  void aGatewayAnswersAndVerbsRunInAProcessOfTheirOwn(@TempDir Path folder) throws IOException {
    Path program = CoatcheckProgram.write(folder.resolve("coatcheck"));

    Terminal trained =
        Terminal.run("train", "--home=" + folder.resolve("home"), "--port=0", program.toString());

    assertThat(trained.err()).isEmpty();
    assertThat(trained.out()).isEmpty();
    assertThat(trained.status()).isZero();
  }

  @Test
  void verbsThatFailFailTheTraining() {
    try (TestHome home = TestHome.fresh()) {
      Terminal trained = Terminal.run("train", "--home=" + home, "--port=0", "--", "false");

      assertThat(trained.err()).contains("the verbs failed");
      assertThat(trained.status()).isOne();
    }
  }
}

package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainCommandTest {
  @Test
  void aGatewayAnswersAndStopsAndNothingIsPrinted(@TempDir Path home) {
    Terminal trained = Terminal.run("train", "--home=" + home, "--port=0");

    assertThat(trained.err()).isEmpty();
    assertThat(trained.out()).isEmpty();
    assertThat(trained.status()).isZero();
  }
}

package dev.coatcheck.app.cli;

import static dev.coatcheck.app.cli.AtGateway.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code types plan}, {@code apply} and {@code export}. */
class TypesAsCodeTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @TempDir Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("types.yaml"), text);
  }

  private Terminal plan(String text) throws IOException {
    return run("types", "plan", "-f", file(text).toString());
  }

  private Terminal apply(String text, String... more) throws IOException {
    String[] arguments = {"types", "apply", "-f", file(text).toString()};
    return run(
        java.util.stream.Stream.concat(
                java.util.Arrays.stream(arguments), java.util.Arrays.stream(more))
            .toArray(String[]::new));
  }

  @Test
  void aTypeIsPlannedCreatedChangedAndThenThereIsNoDifference() throws IOException {
    String first =
        """
        types:
          crate:
            prefix: crt
            key: bigint
            redirect:
              template: https://shop.example/crates/{id}
        """;
    String second = first + "      max_age_seconds: 60\n";

    Terminal created = plan(first);
    assertThat(created.err()).isEmpty();
    assertThat(created.status()).isEqualTo(3);
    assertThat(created.lines())
        .contains("crate: new", "  + prefix crt")
        .anyMatch(line -> line.startsWith("1 to create, 0 to change, 0 unchanged, "));
    assertThat(run("types", "get", "crate").err()).contains("(type_unknown)");

    Terminal done = apply(first);
    assertThat(done.err()).isEmpty();
    assertThat(done.status()).isZero();
    assertThat(done.lines()).contains("crate: created, version 1");
    assertThat(plan(first).status()).isZero();

    Terminal differs = plan(second);
    assertThat(differs.status()).isEqualTo(3);
    assertThat(differs.lines())
        .containsSequence(
            "crate: differs",
            "  - redirect.max_age_seconds 0",
            "  + redirect.max_age_seconds 60");
    assertThat(apply(second).lines()).contains("crate: changed, version 2");
    assertThat(apply(second).lines()).noneMatch(line -> line.startsWith("crate"));
    assertThat(plan(second).status()).isZero();
    assertThat(plan(second).lines()).anyMatch(line -> line.endsWith(": not in the file, left alone"));
  }
}

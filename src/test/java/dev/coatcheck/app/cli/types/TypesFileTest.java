package dev.coatcheck.app.cli.types;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.coatcheck.app.client.Misused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file of types is read strictly, and all its problems are told with their lines. */
class TypesFileTest {
  private static final Map<String, String> ENVIRONMENT = Map.of("SALT", "pepper", "EMPTY", "");

  @TempDir Path folder;

  private TypesFile read(String text) throws Misused, IOException {
    return TypesFile.read(Files.writeString(folder.resolve("types.yaml"), text), ENVIRONMENT::get);
  }

  /** The problems of a text without the line that counts them. */
  private List<String> problems(String text) {
    Throwable refused = catchThrowable(() -> read(text));
    assertThat(refused).as(text).isInstanceOf(Misused.class);
    return requireNonNull(refused.getMessage()).lines().skip(1).map(String::strip).toList();
  }

  @Test
  void allProblemsAreToldWithTheirLines() {
    assertThat(
            problems(
                """
                types:
                  charge:
                    prefix: Ch
                    key: bigint
                    colour: red
                    redirect:
                      template: https://shop.example/{id}
                      status: 999
                      colour: red
                    redirect: null
                    url_templates: [1, 2]
                  Order: {prefix: ord, key: bigint}
                  user: {prefix: usr}
                  link: nothing
                  secret:
                    prefix: sec
                    key: bigint
                    public_rule: {scheme: hashids, salt: in the open}
                version: 1
                """))
        .containsExactly(
            "line 3: charge.prefix: A prefix is 1 to 32 of a-z, 0-9 and _, starts with a letter,"
                + " and neither ends with _ nor doubles it.",
            "line 5: charge.colour: The known fields are client_names, dead_link, fallback_url,"
                + " generate, key, layout, legacy, on_outage, prefix, public_pattern, public_rule,"
                + " redirect, retired, sealed, stale_seconds_max, tag, url_templates.",
            "line 8: charge.redirect.status: This must be an integer from 301 to 308.",
            "line 9: charge.redirect.colour: The known fields are expose_key, max_age_seconds,"
                + " public, status, template.",
            "line 10: charge.redirect: This field is there already, in line 6.",
            "line 11: charge.url_templates[0]: This must be a string.",
            "line 12: Order: A type's name is a lower-case letter, then up to 62 of a-z, 0-9 and"
                + " _.",
            "line 13: user.key: Send what the keys are: bigint or uuid.",
            "line 14: link: This must be an object with the fields of a type.",
            "line 18: secret.public_rule.salt: Say where the salt is, {env: NAME} or {file: PATH}."
                + " The salt itself stays out of the file.",
            "line 19: version: The only field here is types.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing",
        "- a list",
        "types",
        "types:",
        "types: []",
        "type: {}",
        "types: {a: {b: [}}",
        "types: {a: 1}\n---\ntypes: {}",
        "types: {a: &a {b: *a}}",
        "types: {1: {prefix: a, key: uuid}}",
        "types: {a: {prefix: !!python/object:os.system a, key: uuid}}",
        "types: {a: {prefix: *nothing, key: uuid}}",
        "types: {a: {prefix: ${PREFIX}, key: uuid}}",
        "\ttypes: {}",
        "types: {a: {prefix: a, key: uuid, stale_seconds_max: 1.5}}",
        "types: {a: {prefix: a, key: uuid, stale_seconds_max: '7'}}",
        "types: {a: {prefix: a, key: uuid, retired: yes}}",
        "types: {a: {prefix: a, key: uuid, name: a}}",
        "types: {a: {prefix: no, key: uuid, on_outage: .inf}}"
      })
  void whatIsNoFileOfTypesIsRefusedWithALine(String text) {
    assertThat(problems(text)).isNotEmpty().allMatch(problem -> problem.matches("line [0-9]+: .+"));
  }

  @Test
  void textsThatAliasesBlowUpAreRefused() {
    StringBuilder text = new StringBuilder("types:\n  a0: &a0 {prefix: a, key: uuid}\n");
    for (int i = 1; i < 20; i++) {
      text.append("  a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }
    assertThat(problems(text.toString()).getFirst()).contains("too large");
  }

  @Test
  void anAliasIsWhatItRefersTo() throws Exception {
    TypesFile file =
        read(
            """
            types:
              a: {prefix: a, key: bigint, legacy: &old {sunset_at: 2099-01-01T00:00:00Z}}
              b: {prefix: b, key: bigint, legacy: *old}
            """);

    assertThat(file.types())
        .extracting(type -> type.definition().policies().legacy().orElseThrow().sunsetAt())
        .containsOnly(Optional.of(Instant.parse("2099-01-01T00:00:00Z")));
  }

  @Test
  void aSaltComesFromAVariableOrAFileAndIsNeverTold() throws Exception {
    Files.writeString(folder.resolve("salt"), "cumin\n");
    String type = "types: {a: {prefix: a, key: bigint, public_rule: {scheme: hashids, salt: %s}}}";

    for (String salt : List.of("{env: SALT}", "{file: salt}", "{file: " + folder + "/salt}")) {
      assertThat(read(type.formatted(salt)).types().getFirst().body().at("/public_rule/salt"))
          .asString()
          .isIn("\"pepper\"", "\"cumin\"");
    }
    for (String wrong :
        List.of(
            "{env: NONE}",
            "{env: EMPTY}",
            "{file: none}",
            "{file: .}",
            "{}",
            "{env: SALT, file: salt}",
            "{env: 1}",
            "{vault: SALT}",
            "[SALT]",
            "'${env:SALT}'",
            "cumin")) {
      assertThat(problems(type.formatted(wrong)))
          .singleElement()
          .asString()
          .startsWith("line 1: a.public_rule.salt: ")
          .doesNotContain("cumin", "pepper");
    }
    Files.writeString(folder.resolve("salt"), "cumin".repeat(100));
    assertThat(problems(type.formatted("{file: salt}")))
        .singleElement()
        .asString()
        .contains("up to 255 characters")
        .doesNotContain("cumin");
    assertThatThrownBy(() -> TypesFile.read(folder.resolve("none.yaml"), ENVIRONMENT::get))
        .isInstanceOf(Misused.class)
        .hasMessageContaining("none.yaml");
  }
}

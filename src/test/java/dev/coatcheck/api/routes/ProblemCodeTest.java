package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.exchange.ProblemCode;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ProblemCodeTest {
  private static final OpenAPI API =
      new OpenAPIV3Parser().readContents(Contract.text()).getOpenAPI();

  @Test
  void theContractKnowsEveryCodeWithItsStatusAndTitle() {
    Map<String, ProblemRules.Code> documented = ProblemRules.codesOf(API);

    assertThat(documented.keySet()).containsExactlyInAnyOrderElementsOf(codes());
    for (ProblemCode code : ProblemCode.values()) {
      ProblemRules.Code entry = Objects.requireNonNull(documented.get(code.wireName()));
      assertThat(entry.status()).as(code.wireName()).isEqualTo(code.status());
      assertThat(entry.title()).as(code.wireName()).isEqualTo(code.title());
    }
  }

  @Test
  void theEnumInTheContractHasTheSameCodes() {
    List<?> named =
        Objects.requireNonNull(API.getComponents().getSchemas().get("ProblemCode")).getEnum();

    assertThat(named.stream().map(Object::toString)).containsExactlyInAnyOrderElementsOf(codes());
  }

  @Test
  void everyCodeHasItsSectionOnThePageThatItsTypeNames() throws IOException {
    String page = Files.readString(Path.of("src/main/resources/docs/errors.html"));

    assertThat(Pattern.compile("<section class=\"code\" id=\"([a-z_]+)\">").matcher(page).results())
        .extracting(found -> found.group(1))
        .containsExactlyInAnyOrderElementsOf(codes());
  }

  private static List<String> codes() {
    return Arrays.stream(ProblemCode.values()).map(ProblemCode::wireName).toList();
  }
}

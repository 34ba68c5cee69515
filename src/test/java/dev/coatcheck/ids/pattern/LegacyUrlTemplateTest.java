package dev.coatcheck.ids.pattern;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LegacyUrlTemplateTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/{legacy:order}",
        "/orders/{legacy:order}",
        "/customers/{legacy:customer}/orders/{legacy:order}",
        "/{*}/v2.1/~me/orders/{legacy:order}/invoice.pdf",
        "/a:b/c@d/e,f/g=h/(i)/{legacy:a_1}"
      })
  void aTemplateIsKeptAsItIsWritten(String text) {
    assertThat(template(text)).hasToString(text);
    assertThat(template(text)).isEqualTo(template(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "orders/{legacy:order}",
        "//{legacy:order}",
        "/orders/{legacy:order}/",
        "/orders//{legacy:order}",
        "https://shop.example/orders/{legacy:order}",
        "/orders/7",
        "/orders/{order}",
        "/orders/{legacy:}",
        "/orders/{legacy:Order}",
        "/orders/{legacy:order",
        "/orders/{legacy:order}.json",
        "/orders/{legacy:order}?x=1",
        "/orders;v=1/{legacy:order}",
        "/orders/%37/{legacy:order}",
        "/m\u00f6bel/{legacy:order}",
        "/a\r\nb/{legacy:order}",
        "/./{legacy:order}"
      })
  void whatIsNoPathWithALegacyIdIsRefused(String text) {
    assertThat(LegacyUrlTemplate.parse(text)).isInstanceOf(LegacyUrlTemplate.Parsed.Refused.class);
  }

  @Test
  void aTemplateIsBounded() {
    String end = "/{legacy:order}";
    String longest = "/" + "x".repeat(1_024 - 1 - end.length()) + end;

    assertThat(template(longest)).hasToString(longest);
    assertThat(LegacyUrlTemplate.parse("/x" + longest.substring(1)))
        .isInstanceOf(LegacyUrlTemplate.Parsed.Refused.class);
  }

  @Test
  void aPathFitsByItsLiteralSegments() {
    LegacyUrlTemplate template = template("/{*}/orders/{legacy:order}/2");

    assertThat(template.length()).isEqualTo(4);
    assertThat(template.fits(List.of("x", "orders", "7", "2"))).isTrue();
    assertThat(template.fits(List.of("", "orders", "new", "2"))).isTrue();
    for (List<String> other :
        List.of(
            List.<String>of(),
            List.of("x", "orders", "7"),
            List.of("x", "orders", "7", "2", ""),
            List.of("x", "Orders", "7", "2"),
            List.of("x", "orders", "7", "3"))) {
      assertThat(template.fits(other)).as("%s", other).isFalse();
    }
    assertThat(IntStream.range(0, 5).mapToObj(template::typeAt))
        .containsExactly(
            Optional.empty(),
            Optional.empty(),
            Optional.of("order"),
            Optional.empty(),
            Optional.empty());
    assertThat(IntStream.range(0, 5).filter(template::isLiteralAt)).containsExactly(1, 3);
  }

  /** Each pair is tried in both orders. */
  @ParameterizedTest
  @CsvSource({
    "/orders/{legacy:a}, /orders/{legacy:b}, true",
    "/orders/{legacy:a}, /bills/{legacy:b}, false",
    "/orders/{legacy:a}, /orders/{legacy:b}/x, false",
    "/orders/{legacy:a}, /{legacy:b}/{*}, true",
    "/orders/{legacy:a}, /{legacy:b}/7, true",
    "/orders/{legacy:a}, /{legacy:b}/-7, true",
    "/orders/{legacy:a}, /{legacy:b}/0x7, true",
    "/orders/{legacy:a}, /{legacy:b}/new, false",
    "/{legacy:a}/{legacy:b}, /x/{legacy:c}, true",
    "/{legacy:a}/{legacy:b}, /7/{legacy:b}, true",
  })
  void templatesThatTakeANumberForDifferentThingsContradictEachOther(
      String one, String other, boolean contradict) {
    LegacyUrlTemplate first = template(one);
    LegacyUrlTemplate second = template(other);

    assertThat(first.contradicts(second)).isEqualTo(contradict);
    assertThat(second.contradicts(first)).isEqualTo(contradict);
  }

  /** By all short paths: what contradicts says is what the paths show. */
  @Test
  void contradictionIsWhatSomePathShows() {
    List<String> segments = List.of("x", "7", "{*}", "{legacy:a}", "{legacy:b}");
    List<LegacyUrlTemplate> templates =
        segments.stream()
            .flatMap(one -> segments.stream().map(two -> "/" + one + "/" + two))
            .filter(text -> text.contains("legacy"))
            .map(LegacyUrlTemplateTest::template)
            .toList();
    List<String> texts = List.of("x", "7", "8", "other");
    List<List<String>> paths =
        texts.stream().flatMap(one -> texts.stream().map(two -> List.of(one, two))).toList();
    for (LegacyUrlTemplate one : templates) {
      for (LegacyUrlTemplate other : templates) {
        boolean shown =
            paths.stream()
                .filter(path -> one.fits(path) && other.fits(path))
                .anyMatch(path -> !numbers(one, path).equals(numbers(other, path)));
        assertThat(one.contradicts(other)).as("%s and %s", one, other).isEqualTo(shown);
      }
    }
  }

  /** What the numbers of a path are. */
  private static List<String> numbers(LegacyUrlTemplate template, List<String> path) {
    return IntStream.range(0, path.size())
        .filter(at -> path.get(at).matches("[0-9]+"))
        .boxed()
        .flatMap(at -> Stream.of(at + template.typeAt(at).orElse("")))
        .toList();
  }

  private static LegacyUrlTemplate template(String text) {
    return ((LegacyUrlTemplate.Parsed.Accepted) LegacyUrlTemplate.parse(text)).template();
  }
}

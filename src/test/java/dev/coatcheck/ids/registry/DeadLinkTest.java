package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** What a type may say to those who follow an ended link. */
class DeadLinkTest {
  private static final JsonMapper JSON = new JsonMapper();

  @Test
  void aTypeThatSaysNothingHasThePlainPage() {
    for (String type : List.of("{}", "{\"dead_link\":null,\"fallback_url\":null}")) {
      assertThat(read(type)).isEqualTo(new DeadLink.Plain());
    }
  }

  @Test
  void textsAreReadByLanguageAndOneLanguageIsTheDefault() {
    assertThat(
            read(
                """
                {"dead_link":{"title":{"pt-BR":"Fim"},"text":{"pt-BR":"Acabou."}}}
                """))
        .isEqualTo(
            new DeadLink.Texts("pt-BR", Map.of("pt-BR", new DeadLink.Text("Fim", "Acabou."))));
    assertThat(
            read(
                """
                {"dead_link":{"default_language":"de","title":{"en":"A","de":"B"},
                              "text":{"de":"D","en":"C"}}}
                """))
        .isEqualTo(
            new DeadLink.Texts(
                "de",
                Map.of("en", new DeadLink.Text("A", "C"), "de", new DeadLink.Text("B", "D"))));
  }

  @Test
  void aTextMayHaveAnyScriptAndWhatIsMarkupElsewhere() {
    for (String text :
        List.of("<script>&\"'", "מודעה", "العرض", "नहीं\u200dरहा", "👩\u200d👧", "結束了")) {
      assertThat(read(texts("en", text)))
          .isEqualTo(new DeadLink.Texts("en", Map.of("en", new DeadLink.Text(text, text))));
    }
  }

  @Test
  void controlCharactersAndThoseThatChangeTheDirectionAreRefused() {
    List<Integer> refused =
        IntStream.of(
                0x00, 0x07, 0x09, 0x0A, 0x0D, 0x1B, 0x1F, 0x7F, 0x85, 0x9F, 0x2028, 0x2029, 0x061C,
                0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068,
                0x2069)
            .boxed()
            .toList();
    for (int c : refused) {
      String text = "a" + Character.toString(c) + "b";
      assertRefused("field_invalid", "dead_link.title.en", texts("en", text));
      assertRefused(
          "field_invalid",
          "dead_link.text.en",
          JSON.writeValueAsString(
              Map.of("dead_link", Map.of("title", Map.of("en", "a"), "text", Map.of("en", text)))));
    }
  }

  @Test
  void textsHaveALengthInCharactersAndThereAreTwentyLanguages() {
    String title = "👧".repeat(120);
    String text = "👧".repeat(1_000);
    assertThat(read(texts("en", title, text))).isInstanceOf(DeadLink.Texts.class);
    assertRefused("field_invalid", "dead_link.title.en", texts("en", title + "a", text));
    assertRefused("field_invalid", "dead_link.text.en", texts("en", title, text + "a"));

    assertThat(read(languages(20))).isInstanceOf(DeadLink.Texts.class);
    assertRefused("field_invalid", "dead_link.title", languages(21));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          field_missing | dead_link.title            | {}
          field_missing | dead_link.text             | {'title':{'en':'a'}}
          field_invalid | dead_link.title            | {'title':{},'text':{}}
          field_invalid | dead_link.title            | {'title':'a','text':'b'}
          field_invalid | dead_link.title.en         | {'title':{'en':7},'text':{'en':'b'}}
          field_invalid | dead_link.title.en         | {'title':{'en':' '},'text':{'en':'b'}}
          field_invalid | dead_link.text             | {'title':{'en':'a'},'text':{'de':'b'}}
          field_invalid | dead_link.text             | {'title':{'en':'a'},'text':{'en':'b','de':'c'}}
          field_missing | dead_link.default_language | {'title':{'en':'a','de':'c'},'text':{'en':'b','de':'d'}}
          field_invalid | dead_link.default_language | {'default_language':'fr','title':{'en':'a'},'text':{'en':'b'}}
          field_invalid | dead_link.title            | {'title':{'EN':'a'},'text':{'EN':'b'}}
          field_invalid | dead_link.title            | {'title':{'pt-br':'a'},'text':{'pt-br':'b'}}
          field_invalid | dead_link.title            | {'title':{'"><script>':'a'},'text':{'"><script>':'b'}}
          field_invalid | dead_link.title            | {'title':{'':'a'},'text':{'':'b'}}
          field_unknown | dead_link.html             | {'html':'a','title':{'en':'a'},'text':{'en':'b'}}
          """)
  void textsThatAreNoneAreRefusedAndNamed(String code, String field, String texts) {
    assertRefused(
        code, field, "{\"dead_link\":" + texts.replace("\"", "\\\"").replace('\'', '"') + "}");
  }

  @Test
  void aTypeHasATextOrAFallback() {
    assertRefused(
        "field_invalid",
        "fallback_url",
        """
        {"dead_link":{"title":{"en":"a"},"text":{"en":"b"}},
         "fallback_url":"https://shop.example/gone"}
        """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://shop.example",
        "https://shop.example/gone?from=link#top",
        "https://shop.example:8443/r",
        "https://shop.example/rest/legacy",
        "http://localhost:3000/gone"
      })
  void aFallbackIsAFixedUrl(String url) {
    assertThat(read(JSON.writeValueAsString(Map.of("fallback_url", url)))).isEqualTo(fallback(url));
  }

  /** What carries the ID along, or has a path of the gateway's links, could be a loop. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://links.example/x/{id}",
        "https://links.example/x?id={id}",
        "https://links.example/x#{key}",
        "https://links.example/r/ch_4KIWSf8WvPNoQDBwStVIDYHU",
        "https://links.example/legacy/charge/7",
        "https://links.example//r/x",
        "https://links.example/R/x",
        "https://links.example/x/../r/y",
        "https://links.example/x/%2E%2e/r/y",
        "https://links.example/./r/y",
        "https://links.example/x/..",
        "http://shop.example/gone",
        "//shop.example/gone",
        "javascript:alert(1)",
        "https://user@shop.example/",
        "https://shop.example\\@evil.example/",
        "https://shop.example/a b",
        ""
      })
  void aFallbackThatCouldBeALoopOrIsNoUrlIsRefused(String url) {
    assertRefused(
        "redirect_template_refused",
        "fallback_url",
        JSON.writeValueAsString(Map.of("fallback_url", url)));
  }

  private static DeadLink fallback(String url) {
    return new DeadLink.Fallback(
        ((RedirectTemplate.Parsed.Accepted) RedirectTemplate.parse(url, RedirectHosts.any()))
            .template());
  }

  @Test
  void aFallbackLeadsToAnAllowedHostOnly() {
    RedirectHosts hosts = RedirectHosts.parse("shop.example");
    JsonObject other = object("{\"fallback_url\":\"https://evil.example/\"}");

    assertThat(DeadLink.read(object("{\"fallback_url\":\"https://shop.example/\"}"), hosts))
        .isEqualTo(fallback("https://shop.example/"));
    assertThatThrownBy(() -> DeadLink.read(other, hosts))
        .isInstanceOfSatisfying(
            JsonFault.class,
            fault -> assertThat(fault.detail()).contains("host that is not allowed"));
  }

  private static void assertRefused(String code, String field, String type) {
    assertThatThrownBy(() -> read(type))
        .as(type)
        .isInstanceOfSatisfying(
            JsonFault.class,
            fault -> {
              assertThat(fault.code()).isEqualTo(code);
              assertThat(fault.field()).isEqualTo(field);
            });
  }

  private static String texts(String language, String text) {
    return texts(language, text, text);
  }

  private static String texts(String language, String title, String text) {
    return JSON.writeValueAsString(
        Map.of(
            "dead_link", Map.of("title", Map.of(language, title), "text", Map.of(language, text))));
  }

  private static String languages(int count) {
    Map<String, String> texts =
        IntStream.range(0, count)
            .mapToObj(i -> "a" + (char) ('a' + i))
            .collect(Collectors.toMap(language -> language, language -> language));
    return JSON.writeValueAsString(
        Map.of("dead_link", Map.of("title", texts, "text", texts, "default_language", "aa")));
  }

  private static DeadLink read(String type) {
    return DeadLink.read(object(type), RedirectHosts.any());
  }

  private static JsonObject object(String type) {
    return JsonObject.of(JSON.readTree(type)).recording();
  }
}

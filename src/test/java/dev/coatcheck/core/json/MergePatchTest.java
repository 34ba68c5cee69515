package dev.coatcheck.core.json;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The examples of RFC 7396, appendix A, whose targets and patches are objects, and some more. */
class MergePatchTest {
  private static final JsonMapper JSON = new JsonMapper();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"a":"b"}                  | {"a":"c"}                     | {"a":"c"}
          {"a":"b"}                  | {"b":"c"}                     | {"a":"b","b":"c"}
          {"a":"b"}                  | {"a":null}                    | {}
          {"a":"b","b":"c"}          | {"a":null}                    | {"b":"c"}
          {"a":["b"]}                | {"a":"c"}                     | {"a":"c"}
          {"a":"c"}                  | {"a":["b"]}                   | {"a":["b"]}
          {"a":{"b":"c"}}            | {"a":{"b":"d","c":null}}      | {"a":{"b":"d"}}
          {"a":[{"b":"c"}]}          | {"a":[1]}                     | {"a":[1]}
          {"e":null}                 | {"a":1}                       | {"e":null,"a":1}
          {}                         | {"a":{"bb":{"ccc":null}}}     | {"a":{"bb":{}}}
          {"a":1}                    | {"a":{"b":{"c":[null]}}}      | {"a":{"b":{"c":[null]}}}
          {"a":{"b":1,"c":{"d":2}}}  | {"a":{"c":{"e":3}},"f":4}     | {"a":{"b":1,"c":{"d":2,"e":3}},"f":4}
          """)
  void aPatchChangesWhatItHasRemovesNullsAndKeepsTheRest(
      String target, String patch, String result) {
    ObjectNode patched = (ObjectNode) JSON.readTree(target);

    JsonObject.merge(patched, JSON.readTree(patch));

    assertThat(patched).isEqualTo(JSON.readTree(result));
  }
}

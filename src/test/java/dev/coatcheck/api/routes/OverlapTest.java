package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertOneIsPut;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.assertPut;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No text is a public ID of two types, or of two systems. */
class OverlapTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    accepted("plain", "{}");
    accepted("hash", "{'public_rule':{'scheme':'hashids','salt':'a','min_length':8}}");
    accepted("marked", "{'public_rule':{'scheme':'hashids','text_prefix':'inv-'}}");
    accepted(
        "rows",
        "{'public_pattern':{'text_prefix':'cus_','alphabet':'0123456789','min_length':14,'max_length':20}}");
    accepted("device", "{'key_scheme':'uuidv7','public_rule':{'scheme':'uuid'}}");
    accepted("user", "{'key_scheme':'uuidv7','public_rule':{'scheme':'typeid','prefix':'user'}}");
  }

  private static void accepted(String type, String fields) {
    assertPut(put(client, type, fields));
  }

  private static Reply put(TestClient as, String type, String fields) {
    return as.put(TestType.of(type, type).and(fields.replace('\'', '"')));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          hash   | public_rule    | {'public_rule':{'scheme':'hashids','salt':'b','min_length':8}}
          hash   | public_rule    | {'public_rule':{'scheme':'hashids','salt':'b'}}
          hash   | public_rule    | {'public_rule':{'scheme':'sqids'}}
          hash   | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'x'}}
          hash   | public_pattern | {'public_pattern':{'alphabet':'0123456789','min_length':1,'max_length':8}}
          marked | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'inv-'}}
          marked | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'inv-x'}}
          marked | public_pattern | {'public_pattern':{'text_prefix':'inv','alphabet':'-0123456789','min_length':1,'max_length':4}}
          rows   | public_pattern | {'public_pattern':{'text_prefix':'cus_0','alphabet':'09','min_length':13,'max_length':13}}
          device | public_rule    | {'key_scheme':'uuidv7','public_rule':{'scheme':'uuid'}}
          device | public_pattern | {'public_pattern':{'alphabet':'0123456789abcdef-','min_length':36,'max_length':36}}
          user   | public_rule    | {'key_scheme':'uuidv7','public_rule':{'scheme':'typeid','prefix':'user'}}
          plain  | public_pattern | {'public_pattern':{'text_prefix':'plain_','alphabet':'0123456789','min_length':24,'max_length':24}}
          plain  | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'plain_','min_length':24}}
          `the same type` | public_pattern | {'public_pattern':{'text_prefix':'late_','alphabet':'0123456789','min_length':1,'max_length':30}}
          """)
  void declarationsThatOverlapAreRefused(String other, String field, String declared) {
    Reply refused = put(client.hostile(), "late", declared);

    assertProblem(refused, 422, "public_ids_overlap", field);
    assertThat(refused.text("/detail"))
        .contains(other.equals("the same type") ? "of this type itself" : "of the type " + other);
    assertThat(client.get("/v1/types/late").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          fine1 | {'public_rule':{'scheme':'hashids','salt':'b','min_length':8,'text_prefix':'bill-'}}
          fine2 | {'public_rule':{'scheme':'sqids','min_length':40}}
          fine3 | {'public_rule':{'scheme':'hashids','alphabet':'!#$%&()*+,./:;<=>?'}}
          fine4 | {'key_scheme':'uuidv7','public_rule':{'scheme':'typeid','prefix':'users'}}
          fine5 | {'key_scheme':'uuidv7','public_rule':{'scheme':'uuid','text_prefix':'u-'}}
          fine6 | {'key_scheme':'uuidv7','public_rule':{'scheme':'typeid','prefix':''}}
          fine7 | {'public_pattern':{'text_prefix':'cus_','alphabet':'0123456789','min_length':1,'max_length':13}}
          fine8 | {'public_pattern':{'text_prefix':'cus_','alphabet':'abcdef','min_length':14,'max_length':20}}
          fine9 | {'public_pattern':{'text_prefix':'plain_','alphabet':'0123456789','min_length':25,'max_length':30}}
          """)
  void declarationsThatDifferAreAcceptedAndKept(String type, String declared) {
    Reply put = put(client, type, declared);

    assertPut(put);
    Reply again = client.get("/v1/types/" + type);
    assertThat(again.body()).isEqualTo(put.body());
    assertThat(put(client, type, declared).header("ETag")).isEqualTo("\"1\"");
    String field = declared.contains("public_rule") ? "public_rule" : "public_pattern";
    assertThat(again.body().get(field).has("text_prefix")).isTrue();
  }

  /** What was accepted may be put again, and a declaration that is taken back is free. */
  @Test
  void aDeclarationThatIsTakenBackIsFree() {
    String declared = "{'public_rule':{'scheme':'sqids','text_prefix':'free-'}}";
    accepted("first", declared);
    assertThat(put(client, "first", declared).status()).isEqualTo(200);
    assertProblem(
        put(client.hostile(), "second", declared), 422, "public_ids_overlap", "public_rule");

    assertThat(put(client, "first", "{'public_rule':null}").status()).isEqualTo(200);

    accepted("second", declared);
  }

  /** A type that comes later may not have public IDs that are older public IDs of another type. */
  @Test
  void aPrefixThatAnOlderSystemHasIsRefused() {
    accepted(
        "taker",
        "{'public_pattern':{'text_prefix':'tkn_','alphabet':'0123456789abcdef','min_length':24,'max_length':24}}");

    Reply refused = client.hostile().put(TestType.of("token", "tkn"));

    assertProblem(refused, 422, "public_ids_overlap", "prefix");
    assertThat(refused.text("/detail")).contains("of the type taker");
    assertPut(client.put(TestType.of("token", "tk")));
  }

  @Test
  void ofTwoThatOverlapAtOnceOnlyOneIsPut() throws Exception {
    for (int round = 0; round < 10; round++) {
      String fields = "{'public_rule':{'scheme':'sqids','text_prefix':'race" + round + "-'}}";
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Reply>> puts = new ArrayList<>();
        for (String side : List.of("one", "two")) {
          String type = side + round;
          puts.add(threads.submit(() -> put(client.hostile(), type, fields)));
        }
        assertOneIsPut(puts.get(0).get(), puts.get(1).get(), 422);
      }
    }
  }

  /** The schemes show their own fields only. */
  @Test
  void aRuleIsShownAsItWasDeclared() {
    assertThat(client.get("/v1/types/marked").body().get("public_rule").toString())
        .isEqualTo(
            """
            {"scheme":"hashids","text_prefix":"inv-","salt":"",\
            "alphabet":"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890","min_length":0}\
            """);
    assertThat(client.get("/v1/types/user").body().get("public_rule").toString())
        .isEqualTo("{\"scheme\":\"typeid\",\"text_prefix\":\"\",\"prefix\":\"user\"}");
    assertThat(client.get("/v1/types/device").body().get("public_rule"))
        .hasToString("{\"scheme\":\"uuid\",\"text_prefix\":\"\"}");
    assertThat(client.get("/v1/types/user").body().get("public_pattern").isNull()).isTrue();
  }
}

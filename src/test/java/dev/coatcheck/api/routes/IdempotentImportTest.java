package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Promise 7: a file that comes twice with one Idempotency-Key is imported once. */
class IdempotentImportTest {
  private static final String IMPORTS = "/v1/imports";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CSV = GATEWAY.client().with("Content-Type", "text/csv");

  @BeforeAll
  static void types() {
    GATEWAY.client().put(TestType.of("charge", "ch"));
  }

  private static TestClient keyed(String key) {
    return CSV.with("Idempotency-Key", key);
  }

  private static boolean isThere(int key) {
    return GATEWAY.client().get("/v1/types/charge/keys/" + key).status() == 200;
  }

  @Test
  void theSameFileGetsTheSameAnswerAndIsNotImportedAgain() {
    String file = "type,key\ncharge,101\ncharge,bad\n";
    Reply first = keyed("file-1").post(IMPORTS, file);
    GATEWAY.execute("delete from coatcheck.public_id where key = 101");

    Reply second = keyed("file-1").post(IMPORTS, file);

    assertThat(first.status()).isEqualTo(200);
    assertThat(first.has("idempotent-replayed")).isFalse();
    assertThat(first.body().path("created").intValue()).isEqualTo(1);
    assertThat(second.header("idempotent-replayed")).isEqualTo("true");
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(isThere(101)).isFalse();
  }

  @Test
  void anotherFileOrOtherParametersWithTheKeyAre422AndNothingIsImported() {
    assertThat(keyed("file-2").post(IMPORTS, "type,key\ncharge,201\n").status()).isEqualTo(200);

    assertProblem(
        keyed("file-2").post(IMPORTS, "type,key\ncharge,202\n"),
        422,
        "idempotency_key_reused",
        "Idempotency-Key");
    assertProblem(
        keyed("file-2").post(IMPORTS + "?errors_max=7", "type,key\ncharge,201\n"),
        422,
        "idempotency_key_reused",
        "Idempotency-Key");
    assertThat(isThere(202)).isFalse();
  }

  @Test
  void aFileThatWasRefusedMayBeMendedAndSentWithTheSameKey() {
    assertProblem(keyed("file-3").post(IMPORTS, "id\n301\n"), 400, "request_invalid", null);

    assertThat(keyed("file-3").post(IMPORTS, "type,key\ncharge,301\n").status()).isEqualTo(200);
    assertThat(isThere(301)).isTrue();
  }

  @Test
  void withAKeyNoMoreThanAThousandErrorsAreListed() {
    assertProblem(
        keyed("file-4").post(IMPORTS + "?errors_max=1001", "type,key\ncharge,401\n"),
        400,
        "parameter_invalid",
        "errors_max");
    assertThat(isThere(401)).isFalse();
  }

  @Test
  void whileAnotherRequestWorksOnTheKeyItIs409AndSentAgainItIsAnswered() {
    String file = "type,key\ncharge,501\n";
    try (TestSession other = GATEWAY.sql().session()) {
      other.begin(
          "select pg_advisory_xact_lock(%d)"
              .formatted(new IdempotencyKey("test", "file-5").lock()));

      Reply busy = keyed("file-5").refused("busy", once -> once.post(IMPORTS, file));

      assertProblem(busy, 409, "busy", null);
      assertThat(busy.header("retry-after")).isEqualTo("1");
      other.rollback();
    }
    Reply settled = keyed("file-5").post(IMPORTS, file);
    assertThat(settled.status()).isEqualTo(200);
    assertThat(settled.body().path("existing").intValue()).isEqualTo(1);
  }
}

package dev.coatcheck.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.http.TestClient.Reply;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Imports and exports over HTTP. */
class TransferRoutesTest {
  private static final String IMPORTS = "/v1/imports";
  private static final GatewayFixture GATEWAY = new GatewayFixture();
  private static final TestClient CSV = GATEWAY.client().with("Content-Type", "text/csv");

  @BeforeAll
  static void types() {
    for (String name : List.of("charge", "empty", "moved")) {
      GATEWAY
          .client()
          .put("/v1/types/" + name, "{\"prefix\":\"" + name + "\",\"key_scheme\":\"snowflake\"}");
    }
    GATEWAY.client().put("/v1/types/person", "{\"prefix\":\"usr\",\"key_scheme\":\"uuidv7\"}");
  }

  @AfterAll
  static void close() {
    GATEWAY.close();
  }

  @Test
  void aFileIsTakenInOnceHoweverOftenItIsSent() {
    String file = "type,key\ncharge,101\ncharge,102\nperson,01a1fd3c-753a-7c3e-9a41-6f0d2be8175c\n";

    assertCounts(CSV.post(IMPORTS, file), 3, 3, 0, 0);
    assertCounts(CSV.post(IMPORTS, file), 3, 0, 3, 0);

    assertThat(GATEWAY.client().get("/v1/types/charge/keys/102").status()).isEqualTo(200);
  }

  @Test
  void whatIsExportedIsWhatWasImported() {
    assertCounts(
        CSV.post(
            IMPORTS,
            "type,key,legacy_id,created_at\r\n"
                + "moved,7,70,2020-02-03T04:05:06.789Z\r\n"
                + "moved,5,,\r\n"),
        2,
        2,
        0,
        0);

    Reply reply = GATEWAY.client().get("/v1/exports?type=moved");

    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.body().stringValue())
        .matches(
            "type,key,legacy_id,created_at,public_id\n"
                + "moved,5,,20\\d\\d-[-0-9T:.]+Z,moved_[0-9A-Za-z]{24}\n"
                + "moved,7,70,2020-02-03T04:05:06.789000Z,moved_[0-9A-Za-z]{24}\n");
    assertThat(GATEWAY.client().get("/v1/exports?type=moved&format=ndjson").status())
        .isEqualTo(200);
  }

  private static void assertCounts(Reply reply, int rows, int created, int existing, int refused) {
    assertThat(reply.status()).as("%s", reply.body()).isEqualTo(200);
    assertThat(reply.body().path("object").asString()).isEqualTo("import");
    assertThat(
            List.of(
                reply.body().path("rows").asInt(),
                reply.body().path("created").asInt(),
                reply.body().path("existing").asInt(),
                reply.body().path("refused").asInt()))
        .as("rows, created, existing, refused in %s", reply.body())
        .containsExactly(rows, created, existing, refused);
  }
}

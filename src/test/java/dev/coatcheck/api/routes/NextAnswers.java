package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The question after each fault: are the next thousand answers right? */
public final class NextAnswers {
  private static final String TYPE = "after_fault";
  private static final String WEB = "https://shop.example/";
  private static final int IDS = 100;
  private static final int ROUNDS = 4;
  private static final int ATTEMPTS = 20;

  private final TestClient client;

  public NextAnswers(URI gateway, String apiKey) {
    client = new TestClient(gateway, apiKey).once();
  }

  /** 100 mints, and 500 resolves and 400 redirects of what they made, one after the other. */
  public void areRight() {
    TestType type = TestType.of(TYPE, "aft").redirect(WEB + "{id}");
    assertThat(answer(() -> client.put(type)).status()).isIn(200, 201);
    Map<String, String> keys = new HashMap<>();
    for (int i = 0; i < IDS; i++) {
      Reply minted = answer(() -> client.mint(TYPE));
      assertThat(minted.status()).as("%s", minted).isEqualTo(201);
      keys.put(minted.text("/id"), minted.text("/key"));
    }
    assertThat(keys).hasSize(IDS);
    for (int round = 0; round <= ROUNDS; round++) {
      boolean isLast = round == ROUNDS;
      keys.forEach(
          (id, key) -> {
            Reply resolved = answer(() -> client.get("/v1/ids/" + id));
            assertThat(resolved.status()).as("%s", resolved).isEqualTo(200);
            assertThat(resolved.text("/id")).isEqualTo(id);
            assertThat(resolved.text("/key")).isEqualTo(key);
            if (!isLast) {
              Reply redirect = answer(() -> client.get("/r/" + id));
              assertThat(redirect.status()).as("%s", redirect).isEqualTo(302);
              assertThat(redirect.header("Location")).isEqualTo(WEB + id);
            }
          });
    }
  }

  /** On a busy machine Postgres may miss its deadline; that is not what is asked here. */
  private static Reply answer(Supplier<Reply> question) {
    for (int attempt = 1; ; attempt++) {
      Reply reply = question.get();
      if (attempt == ATTEMPTS
          || !List.of("database_unavailable", "keys_unavailable")
              .contains(reply.text("/code", ""))) {
        return reply;
      }
    }
  }
}

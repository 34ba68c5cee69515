package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Layouts that requests spell out: each takes rows and a thread that nothing gives back. */
class SpelledLayoutsTest {
  private static final int MANY = 26;
  private static final int LAYOUTS_MAX = 8;

  private final GatewayFixture gateway = GatewayFixture.own();

  @AfterEach
  void close() {
    gateway.close();
  }

  private static String spelled(int epoch) {
    return "41/10/12@" + epoch;
  }

  private Reply lease(String layout) {
    return gateway.client().post("/v1/leases", json("layout", layout, "holder", "shop-1"));
  }

  private Reply key(String layout) {
    return gateway
        .client()
        .post("/v1/keys", json("scheme", "snowflake", "layout", layout, "count", 1));
  }

  private long layouts() {
    return gateway
        .sql()
        .number(
            "select count(distinct layout) from coatcheck.worker_lease where layout like '41/%'");
  }

  @Test
  void leasesOfSpelledLayoutsFillNoTable() {
    assertThat(lease(spelled(0)).status()).isEqualTo(201);
    Reply last = lease(spelled(1));
    for (int epoch = 2; epoch < MANY; epoch++) {
      // Else the principal soon had as many leases as it may have.
      gateway.execute("update coatcheck.worker_lease set principal = 'other' where principal > ''");
      last = lease(spelled(epoch));
    }

    assertProblem(last, "400 field_invalid layout");
    assertThat(layouts()).isEqualTo(LAYOUTS_MAX);
    assertThat(lease(spelled(0)).status()).as("one that is in use").isEqualTo(201);
    assertThat(lease("twitter").status()).isEqualTo(201);
    assertThat(key("wide-sequence").status()).isEqualTo(200);
    assertProblem(key(spelled(MANY)), "400 field_invalid layout");
    String ofType = spelled(MANY + 1);
    gateway.client().put(TestType.of("order", "ord").with("layout", ofType));
    assertThat(lease(ofType).status()).isEqualTo(201);
  }

  @Test
  void keysOfSpelledLayoutsLeaveRoomForThoseOfTypes() {
    Reply last = key(spelled(0));
    assertThat(last.status()).isEqualTo(200);
    for (int epoch = 1; epoch < MANY; epoch++) {
      last = key(spelled(epoch));
    }

    assertProblem(last, "400 field_invalid layout");
    assertThat(key(spelled(0)).status()).as("one that is in use").isEqualTo(200);
    String ofType = spelled(MANY);
    gateway.client().put(TestType.of("order", "ord").with("layout", ofType));
    assertThat(key(ofType).status()).isEqualTo(200);
  }
}

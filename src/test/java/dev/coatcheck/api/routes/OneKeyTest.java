package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.TestType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class OneKeyTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @Test
  void aKeyHasOnePublicId() {
    CLIENT.put(TestType.of("coat", "coat"));
    String id = CLIENT.mint("coat", "key", "42").text("/id");
    assertThat(CLIENT.mint("coat", "key", "42").text("/id")).isEqualTo(id);
    assertThat(GATEWAY.count("select count(*) from coatcheck.public_id")).isEqualTo(1);
  }
}

package dev.coatcheck.spring.boot4;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.GatewayAnswer;
import dev.coatcheck.client.GatewayRequest;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up while the gateway is ready. Asks it each time, for 2 s at most, and needs no scope. */
final class CoatcheckHealthIndicator extends AbstractHealthIndicator {
  private static final GatewayRequest READY =
      GatewayRequest.of("GET", "/health/ready").within(Duration.ofSeconds(2));

  private final CoatcheckClient client;

  CoatcheckHealthIndicator(CoatcheckClient client) {
    super("The gateway of public IDs did not answer");
    this.client = client;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    GatewayAnswer answer = client.call(READY);
    (answer.isSuccess() ? builder.up() : builder.down()).withDetail("status", answer.status());
  }
}

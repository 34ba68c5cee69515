package dev.coatcheck.spring.starters;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.GatewayRequest;
import dev.coatcheck.spring.CoatcheckApiKey;
import dev.coatcheck.spring.CoatcheckAutoConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The API key of the application, by setting and by bean. */
class ApiKeyTest {
  private final List<String> shown = new CopyOnWriteArrayList<>();

  @Test
  void aBeanIsAskedForTheApiKeyBeforeEachCall() throws IOException {
    AtomicReference<String> key = new AtomicReference<>("first");
    HttpServer gateway = gateway();
    try {
      runner(gateway)
          .withBean(CoatcheckApiKey.class, () -> key::get)
          .run(
              context -> {
                call(context.getBean(CoatcheckClient.class));
                key.set("second");
                call(context.getBean(CoatcheckClient.class));
              });
      assertThat(shown).isEqualTo(List.of("Bearer first", "Bearer second"));
    } finally {
      gateway.stop(0);
    }
  }

  @Test
  void withoutSuchABeanItIsTheSetting() throws IOException {
    HttpServer gateway = gateway();
    try {
      runner(gateway).run(context -> call(context.getBean(CoatcheckClient.class)));
      assertThat(shown).isEqualTo(List.of("Bearer of-the-settings"));
    } finally {
      gateway.stop(0);
    }
  }

  private static ApplicationContextRunner runner(HttpServer gateway) {
    return new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(CoatcheckAutoConfiguration.class))
        .withPropertyValues(
            "coatcheck.url=http://127.0.0.1:" + gateway.getAddress().getPort(),
            "coatcheck.api-key=of-the-settings");
  }

  private static void call(CoatcheckClient client) {
    assertThat(client.call(GatewayRequest.of("GET", "/v1/access/self")).status()).isEqualTo(204);
  }

  private HttpServer gateway() throws IOException {
    HttpServer gateway =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    gateway.createContext(
        "/",
        exchange -> {
          shown.add(exchange.getRequestHeaders().getFirst("Authorization"));
          exchange.getResponseHeaders().add("Request-Id", "req_1");
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    gateway.start();
    return gateway;
  }
}

package dev.coatcheck.spring.starters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.MintRequest;
import dev.coatcheck.client.Resolution;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.spring.CoatcheckAutoConfiguration;
import dev.coatcheck.spring.CoatcheckWebAutoConfiguration;
import dev.coatcheck.spring.starters.ShopApplication.Charge;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** Keys in answers of an application that mints them, with a gateway in memory. */
class BodyKeysTest {
  private static ConfigurableApplicationContext shop;

  @BeforeAll
  static void start() {
    Class<?>[] sources = {ShopApplication.class, SliceTests.Gateway.class};
    String[] settings = {"--server.port=0", "--server.address=127.0.0.1", "--coatcheck.keys=mint"};
    shop = SpringApplication.run(sources, settings);
  }

  @AfterAll
  static void stop() {
    shop.close();
  }

  @Test
  void anEndedRowIsShownAmongMintedOnes() throws Exception {
    CoatcheckClient client = shop.getBean(CoatcheckClient.class);
    PublicId<Charge> ended = client.mint(MintRequest.of(Key.of(Charge.class, 71))).mapping().id();
    client.revoke(ended, null);

    HttpResponse<String> answer = get("/rows?first=71&count=2");

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.body()).startsWith("[{\"id\":\"" + ended + "\"");
    assertThat(answer.body().split("spch_")).hasSize(3);
  }

  @Test
  void whatAJsonViewLeavesOutIsNotMinted() throws Exception {
    CoatcheckClient client = shop.getBean(CoatcheckClient.class);

    assertThat(get("/viewed?id=81&hidden=82").body()).matches("\\{\"id\":\"spch_\\w{24}\"}");
    assertThat(client.lookup(Key.of(Charge.class, 82))).isInstanceOf(Resolution.Unknown.class);
  }

  @Test
  void aBodyThatCanBeWrittenOnceIsWritten() throws Exception {
    assertThat(get("/iterator").body()).isEqualTo("[1,2]");
    assertThat(get("/stream").body()).isEqualTo("[1,2]");
  }

  @Test
  void afterABodyThatCannotBeWrittenKeysAreRefused() throws Exception {
    assertThat(get("/unwritable").body()).isEqualTo("null");
  }

  @Test
  void twoClientsDoNotStopTheApplication() {
    CoatcheckClient client = shop.getBean(CoatcheckClient.class);
    new WebApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                CoatcheckAutoConfiguration.class, CoatcheckWebAutoConfiguration.class))
        .withBean("one", CoatcheckClient.class, () -> client)
        .withBean("other", CoatcheckClient.class, () -> client)
        .run(started -> assertThat(started.getStartupFailure()).isNull());
  }

  private static HttpResponse<String> get(String path) throws Exception {
    String port = shop.getEnvironment().getProperty("local.server.port");
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }
}

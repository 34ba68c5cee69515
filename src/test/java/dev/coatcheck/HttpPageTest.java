package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The program in {@code docs/http.md}, before a gateway whose first answers don't arrive. */
class HttpPageTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @TempDir Path folder;

  @Test
  void aMintWhoseAnswerIsLostIsDoneOnce() throws Exception {
    assumeTrue(CoatcheckProgram.isInstalled("python3"), "no runtime of a recipe: python3");
    GATEWAY.client().put(TestType.of("charge", "ch"));
    Files.writeString(folder.resolve("mint.py"), program());
    AtomicInteger requests = new AtomicInteger();
    HttpServer front =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    front.createContext(
        "/",
        exchange -> {
          switch (requests.incrementAndGet()) {
            case 1 -> passOn(exchange); // and no answer
            case 2 -> {
              exchange.getResponseHeaders().set("Retry-After", "0");
              exchange.sendResponseHeaders(503, -1);
            }
            default -> answer(exchange, passOn(exchange));
          }
          exchange.close();
        });
    front.start();
    try {
      String printed = run("http://127.0.0.1:" + front.getAddress().getPort());

      assertThat(GATEWAY.sql().texts("select key::text from coatcheck.public_id"))
          .singleElement()
          .satisfies(key -> assertThat(printed).matches("ch_[0-9A-Za-z]{24} " + key + "\n"));
      assertThat(requests).hasValue(4);
    } finally {
      front.stop(0);
    }
  }

  private static String program() throws IOException {
    Matcher block =
        Pattern.compile("(?s)\n```python\n(.*?)```\n")
            .matcher(Files.readString(Path.of("docs/http.md")));
    assertThat(block.find()).isTrue();
    return block.group(1);
  }

  private String run(String url) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("python3", "mint.py", "charge")
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.environment().put("COATCHECK_URL", url);
    builder.environment().put("COATCHECK_API_KEY", GATEWAY.key());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  private static HttpResponse<byte[]> passOn(HttpExchange exchange) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(GATEWAY.uri().resolve(exchange.getRequestURI().getPath()))
            .method(
                exchange.getRequestMethod(),
                BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
    for (String name : new String[] {"Authorization", "Content-Type", "Idempotency-Key"}) {
      String value = exchange.getRequestHeaders().getFirst(name);
      if (value != null) {
        request.header(name, value);
      }
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request.build(), BodyHandlers.ofByteArray());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException(interrupted);
    }
  }

  private static void answer(HttpExchange exchange, HttpResponse<byte[]> answer)
      throws IOException {
    exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
    exchange.getResponseBody().write(answer.body());
  }
}

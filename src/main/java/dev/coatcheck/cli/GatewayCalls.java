package dev.coatcheck.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls a running gateway, for the verbs that go through its API. */
@Command
final class GatewayCalls {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build();

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "${env:COATCHECK_URL:-http://127.0.0.1:8080}",
      description = "The gateway. Default: ${DEFAULT-VALUE}. [COATCHECK_URL]")
  private String url;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      defaultValue = "${env:COATCHECK_KEY_FILE:-.coatcheck/dev-key}",
      description = "File with the API key. Default: ${DEFAULT-VALUE}. [COATCHECK_KEY_FILE]")
  private Path keyFile;

  JsonNode get(String path) throws CommandFailed {
    return call("GET", path, Optional.empty());
  }

  JsonNode post(String path, Object body) throws CommandFailed {
    return call("POST", path, Optional.of(body));
  }

  JsonNode put(String path, Object body) throws CommandFailed {
    return call("PUT", path, Optional.of(body));
  }

  private JsonNode call(String method, String path, Optional<Object> body) throws CommandFailed {
    HttpRequest.BodyPublisher publisher =
        body.map(JSON::writeValueAsBytes)
            .map(HttpRequest.BodyPublishers::ofByteArray)
            .orElseGet(HttpRequest.BodyPublishers::noBody);
    try {
      HttpResponse<byte[]> response =
          client.send(
              HttpRequest.newBuilder(URI.create(url + path))
                  .timeout(WAIT)
                  .header("Authorization", "Bearer " + key())
                  .header("Content-Type", "application/json")
                  .method(method, publisher)
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      JsonNode answer = JSON.readTree(response.body());
      if (response.statusCode() >= 300) {
        throw new CommandFailed(
            "%s (%s). %s [%s]"
                .formatted(
                    answer.path("title").asString(""),
                    answer.path("code").asString(""),
                    answer.path("detail").asString(""),
                    answer.path("request_id").asString("")));
      }
      return answer;
    } catch (IOException broken) {
      throw new CommandFailed("no gateway answers at " + url + ". Start one: ./coatcheck serve");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted.");
    }
  }

  private String key() throws CommandFailed {
    try {
      return Files.readString(keyFile).strip();
    } catch (IOException missing) {
      throw new CommandFailed(
          "can't read the API key from " + keyFile + ". Name its file with --key-file.");
    }
  }
}

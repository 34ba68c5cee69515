package dev.coatcheck.cli;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls a running gateway, for the verbs that go through its API. */
@Command
final class GatewayCalls {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,200}");

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(3))
          .build();

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "${env:COATCHECK_URL:-http://127.0.0.1:${env:COATCHECK_PORT:-8080}}",
      description = "The gateway. Default: ${DEFAULT-VALUE}. [COATCHECK_URL]")
  private String url;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      defaultValue = "${env:COATCHECK_KEY_FILE:-${env:COATCHECK_HOME:-.coatcheck}/dev-key}",
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

  /** One segment of a path. */
  static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private JsonNode call(String method, String path, Optional<Object> body) throws CommandFailed {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address(path))
            .timeout(WAIT)
            .header("Authorization", "Bearer " + key());
    if (body.isPresent()) {
      byte[] json = JSON.writeValueAsBytes(body.get());
      request
          .header("Content-Type", "application/json")
          .method(method, HttpRequest.BodyPublishers.ofByteArray(json));
    } else {
      request.method(method, HttpRequest.BodyPublishers.noBody());
    }
    HttpResponse<byte[]> response = send(request.build());
    JsonNode answer = json(response);
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
  }

  private HttpResponse<byte[]> send(HttpRequest request) throws CommandFailed {
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (ConnectException refused) {
      throw new CommandFailed("no gateway answers at " + url + ". Start one: ./coatcheck serve");
    } catch (HttpTimeoutException late) {
      throw new CommandFailed(
          "the gateway at " + url + " did not answer within " + WAIT.toSeconds() + " s.");
    } catch (IOException broken) {
      throw new CommandFailed("the call to " + url + " broke off: " + broken.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted.");
    }
  }

  /** Every answer of a gateway is an object, whatever its status. */
  private JsonNode json(HttpResponse<byte[]> response) throws CommandFailed {
    try {
      JsonNode answer = JSON.readTree(response.body());
      if (answer.isObject()) {
        return answer;
      }
    } catch (JacksonException other) {
      // said below
    }
    throw new CommandFailed(
        "what answers at " + url + " is no gateway (status " + response.statusCode() + ").");
  }

  private URI address(String path) throws CommandFailed {
    try {
      URI base = URI.create(url);
      if (("http".equals(base.getScheme()) || "https".equals(base.getScheme()))
          && base.getHost() != null
          && base.getRawQuery() == null) {
        return URI.create(url.replaceFirst("/+$", "") + path);
      }
    } catch (IllegalArgumentException malformed) {
      // said below
    }
    throw new CommandFailed("--url must look like http://127.0.0.1:8080, not " + url);
  }

  private String key() throws CommandFailed {
    String key;
    try {
      key = Files.readString(keyFile).strip();
    } catch (IOException missing) {
      throw new CommandFailed(
          "can't read the API key from " + keyFile + ". Name its file with --key-file.");
    }
    if (!KEY.matcher(key).matches()) {
      throw new CommandFailed("the file " + keyFile + " holds no API key.");
    }
    return key;
  }
}

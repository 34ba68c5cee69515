package dev.coatcheck.app.client;

import java.io.IOException;
import java.io.InputStream;
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
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls the API of a running gateway. A mixin with the options {@code --url} and {@code
 * --key-file}.
 */
@Command
public final class GatewayCalls {
  private static final Duration WAIT = Duration.ofSeconds(30);

  /** The first row of an export may take long, see ExportStore. */
  private static final Duration DOWNLOAD_WAIT = Duration.ofMinutes(10);

  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,200}");

  /** Created at the first call, because it takes half a second. */
  private @Nullable HttpClient client;

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "${env:COATCHECK_URL:-http://127.0.0.1:${env:COATCHECK_PORT:-8080}}",
      description = "Address of the gateway. Default: ${DEFAULT-VALUE}. [COATCHECK_URL]")
  private String url;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "File with the API key. Default: the key itself in COATCHECK_API_KEY, or else the file"
              + " dev-key in the gateway's home. [COATCHECK_KEY_FILE]")
  private @Nullable Path keyFile;

  @Option(
      names = "--ca-file",
      paramLabel = "FILE",
      description =
          "PEM file of the certificates to trust instead of those of the JDK, for https."
              + " [COATCHECK_CA_FILE]")
  private @Nullable Path caFile;

  /** For a gateway that this process runs itself. */
  public static GatewayCalls at(String url, Path keyFile) {
    GatewayCalls calls = new GatewayCalls();
    calls.url = url;
    calls.keyFile = keyFile;
    return calls;
  }

  public JsonNode get(String path) throws CommandFailed {
    return call("GET", path, Optional.empty());
  }

  public JsonNode post(String path, Object body) throws CommandFailed {
    return call("POST", path, Optional.of(body));
  }

  public JsonNode put(String path, Object body) throws CommandFailed {
    return call("PUT", path, Optional.of(body));
  }

  public JsonNode post(String path) throws CommandFailed {
    return call("POST", path, Optional.empty());
  }

  public JsonNode patch(String path, Object body) throws CommandFailed {
    return call("PATCH", path, Optional.of(body));
  }

  /**
   * Sends a body that is not JSON.
   *
   * @return the answer, with any status
   * @throws CommandFailed if no gateway answers
   */
  Reply post(String path, String contentType, byte[] body) throws CommandFailed {
    HttpResponse<byte[]> response =
        send(
            request(path, WAIT)
                .header("Content-Type", contentType)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
    return reply(response.statusCode(), response.body());
  }

  /**
   * Asks for what need not be there.
   *
   * @return the answer, if it says that there is such a thing, that there is none, or that it ended
   * @throws CommandFailed for any other answer
   */
  public Reply ask(String path) throws CommandFailed {
    HttpResponse<byte[]> response =
        send(request(path, WAIT).build(), HttpResponse.BodyHandlers.ofByteArray());
    Reply reply = reply(response.statusCode(), response.body());
    return switch (reply.status()) {
      case 200, 400, 404, 410 -> reply;
      default -> throw reply.failure();
    };
  }

  /** Where a redirect leads, which is not followed. */
  public Optional<String> location(String path) throws CommandFailed {
    return send(request(path, WAIT).build(), HttpResponse.BodyHandlers.discarding())
        .headers()
        .firstValue("Location");
  }

  /** The body of an answer as a stream. Throws a problem. */
  public InputStream download(String path) throws CommandFailed {
    HttpResponse<InputStream> response =
        send(request(path, DOWNLOAD_WAIT).build(), HttpResponse.BodyHandlers.ofInputStream());
    if (response.statusCode() < 300) {
      return response.body();
    }
    try (InputStream body = response.body()) {
      throw reply(response.statusCode(), body.readAllBytes()).failure();
    } catch (IOException broken) {
      throw new CommandFailed("the call to " + url + " broke off: " + broken.getMessage());
    }
  }

  String url() {
    return url;
  }

  /** Percent-encodes a text for a segment of a path or a value of a query. */
  public static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private JsonNode call(String method, String path, Optional<Object> body) throws CommandFailed {
    HttpRequest.Builder request = request(path, WAIT);
    if (body.isPresent()) {
      byte[] json = JSON.writeValueAsBytes(body.get());
      request
          .header("Content-Type", "application/json")
          .method(method, HttpRequest.BodyPublishers.ofByteArray(json));
    } else {
      request.method(method, HttpRequest.BodyPublishers.noBody());
    }
    HttpResponse<byte[]> response = send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    Reply reply = reply(response.statusCode(), response.body());
    if (!reply.isSuccess()) {
      throw reply.failure();
    }
    return reply.body();
  }

  private HttpRequest.Builder request(String path, Duration wait) throws CommandFailed {
    return HttpRequest.newBuilder(address(path))
        .timeout(wait)
        .header("Authorization", "Bearer " + key());
  }

  private <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler)
      throws CommandFailed {
    try {
      HttpResponse<T> response = client().send(request, handler);
      requireGateway(response);
      return response;
    } catch (ConnectException refused) {
      throw new NoAnswer("no gateway answers at " + url + ". Start one: ./coatcheck serve");
    } catch (HttpTimeoutException late) {
      throw new NoAnswer(
          "the gateway at "
              + url
              + " did not answer within "
              + request.timeout().orElse(WAIT).toSeconds()
              + " s.");
    } catch (SSLHandshakeException untrusted) {
      throw new CommandFailed(
          "the certificate of "
              + url
              + " is not trusted: "
              + untrusted.getMessage()
              + ". Name its root with --ca-file.");
    } catch (IOException broken) {
      throw new NoAnswer("the call to " + url + " broke off: " + broken.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted.");
    }
  }

  /** Other servers answer JSON too, and an empty object would look like an empty list. */
  private void requireGateway(HttpResponse<?> response) throws CommandFailed {
    if (response.headers().firstValue("Request-Id").filter(id -> id.startsWith("req_")).isEmpty()) {
      throw noGateway(response.statusCode());
    }
  }

  private CommandFailed noGateway(int status) {
    return new CommandFailed(
        "the server at "
            + url
            + " is not a Coatcheck gateway (status "
            + status
            + "). Check --url.");
  }

  /** Every answer of a gateway is an object, whatever its status. */
  private Reply reply(int status, byte[] body) throws CommandFailed {
    try {
      JsonNode answer = JSON.readTree(body);
      if (answer.isObject()) {
        return new Reply(status, answer);
      }
    } catch (JacksonException other) {
      // Handled like a body that is not an object.
    }
    throw noGateway(status);
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
      // Handled like a URL without a host.
    }
    throw new Misused("--url must look like http://127.0.0.1:8080, not " + url);
  }

  /** A flag wins over a variable, and a variable with the key over one that names its file. */
  private String key() throws CommandFailed {
    String variable = System.getenv("COATCHECK_API_KEY");
    if (keyFile == null && variable != null && !variable.isBlank()) {
      return key(variable, "the variable COATCHECK_API_KEY");
    }
    Path file = keyFile == null ? usualKeyFile() : keyFile;
    try {
      return key(Files.readString(file), "the file " + file);
    } catch (IOException missing) {
      throw new CommandFailed(
          "can't read the API key from "
              + file
              + ". Start a gateway (./coatcheck serve), which writes a development key, or name the"
              + " file of an API key with --key-file, or set COATCHECK_API_KEY.");
    }
  }

  private static Path usualKeyFile() {
    String named = System.getenv("COATCHECK_KEY_FILE");
    return named == null
        ? Path.of(System.getenv().getOrDefault("COATCHECK_HOME", ".coatcheck"), "dev-key")
        : Path.of(named);
  }

  private Optional<Path> trusted() {
    return Optional.ofNullable(caFile)
        .or(
            () ->
                Optional.ofNullable(System.getenv("COATCHECK_CA_FILE"))
                    .filter(name -> !name.isEmpty())
                    .map(Path::of));
  }

  private static String key(String text, String where) throws CommandFailed {
    String key = text.strip();
    if (!KEY.matcher(key).matches()) {
      throw new CommandFailed(where + " holds no API key.");
    }
    return key;
  }

  private HttpClient client() throws CommandFailed {
    HttpClient made = client;
    if (made == null) {
      made = CallClient.of(url, trusted());
      client = made;
    }
    return made;
  }
}

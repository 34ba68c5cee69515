package dev.coatcheck.app.client;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.CoatcheckException;
import dev.coatcheck.client.GatewayAnswer;
import dev.coatcheck.client.GatewayRequest;
import dev.coatcheck.client.Problem;
import java.io.InputStream;
import java.net.http.HttpConnectTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Calls the API of a running gateway. A mixin with the options of {@link GatewayAccess}. */
@Command
public final class GatewayCalls {
  /**
   * For the first row of an export, which may take long, see ExportStore; and for each next one.
   */
  private static final Duration DOWNLOAD_WAIT = Duration.ofMinutes(10);

  private static final JsonMapper JSON = new JsonMapper();

  /** The alert, and the classes of the JDK, before the reason that a certificate is refused for. */
  private static final Pattern WRAPPING = Pattern.compile("^(\\([a-z_]+\\) )?(.*Exception: )?");

  /** What a gateway asks of its senders. */
  private static final int SLOWEST_BYTES_A_SECOND = 16 << 10;

  private static final int NO_CONTENT = 204;
  private static final int UNAUTHENTICATED = 401;
  private static final int PAYLOAD_TOO_LARGE = 413;
  private static final int BAD_GATEWAY = 502;
  private static final int GATEWAY_TIMEOUT = 504;

  @Mixin private GatewayAccess access = new GatewayAccess();

  /** For a gateway that this process runs itself. */
  public static GatewayCalls at(String url, Path keyFile) {
    GatewayCalls calls = new GatewayCalls();
    calls.access = GatewayAccess.of(url, keyFile);
    return calls;
  }

  public JsonNode get(String path) throws CommandFailed {
    return body(GatewayRequest.of("GET", path));
  }

  public JsonNode post(String path, Object body) throws CommandFailed {
    return body(json("POST", path, body));
  }

  public JsonNode put(String path, Object body) throws CommandFailed {
    return body(json("PUT", path, body));
  }

  public JsonNode post(String path) throws CommandFailed {
    return body(GatewayRequest.of("POST", path));
  }

  public JsonNode patch(String path, Object body) throws CommandFailed {
    return body(json("PATCH", path, body));
  }

  /**
   * Sends a body that is not JSON.
   *
   * @return the answer, with any status
   * @throws CommandFailed if no gateway answers
   */
  Reply post(String path, String contentType, byte[] body) throws CommandFailed {
    Duration wait = GatewayAccess.WAIT.plusSeconds(body.length / SLOWEST_BYTES_A_SECOND);
    GatewayRequest request = GatewayRequest.of("POST", path).withBody(contentType, body);
    return reply(answer(request.within(wait), wait));
  }

  /**
   * Sends a change of a thing as it was read.
   *
   * @param etag of the thing; empty if it must not be there yet
   * @return the answer, with any status that is no outage
   * @throws CommandFailed if no gateway answers, or it can't do it now
   */
  public Reply putIf(String path, Object body, Optional<String> etag) throws CommandFailed {
    Reply reply = reply(answer(json("PUT", path, body).onlyIf(etag)));
    if (reply.isForNow()) {
      throw reply.failure();
    }
    return reply;
  }

  /**
   * Asks for what need not be there.
   *
   * @return the answer, if it says that there is such a thing, that there is none, or that it ended
   * @throws CommandFailed for any other answer
   */
  public Reply ask(String path) throws CommandFailed {
    Reply reply = reply(answer(GatewayRequest.of("GET", path)));
    return switch (reply.status()) {
      case 200, 400, 404, 410 -> reply;
      default -> throw reply.failure();
    };
  }

  /** Where a redirect leads, which is not followed. */
  public Optional<String> location(String path) throws CommandFailed {
    return answer(GatewayRequest.of("GET", path)).header("Location");
  }

  /** The body of an answer as a stream, which breaks off if it falls silent. Throws a problem. */
  public InputStream download(String path) throws CommandFailed {
    return download(path, DOWNLOAD_WAIT);
  }

  InputStream download(String path, Duration wait) throws CommandFailed {
    CoatcheckClient gateway = access.client();
    try {
      return new WatchedBody(gateway.open(GatewayRequest.of("GET", path).within(wait)), wait);
    } catch (CoatcheckException failed) {
      throw failure(failed, wait);
    }
  }

  String url() {
    return access.url();
  }

  /** Percent-encodes a text for a segment of a path or a value of a query. */
  public static String segment(String text) {
    return GatewayRequest.segment(text);
  }

  /**
   * A path with more in its query, percent-encoded.
   *
   * @param parameters a name, its value, the next name …; one whose value is null is left out
   */
  public static String path(String base, @Nullable Object... parameters) {
    StringBuilder path = new StringBuilder(base);
    for (int name = 0; name < parameters.length; name += 2) {
      Object value = parameters[name + 1];
      if (value != null) {
        path.append(path.indexOf("?") < 0 ? '?' : '&').append(parameters[name]);
        path.append('=').append(segment(value.toString()));
      }
    }
    return path.toString();
  }

  private static GatewayRequest json(String method, String path, Object body) {
    return GatewayRequest.of(method, path)
        .withBody("application/json", JSON.writeValueAsBytes(body));
  }

  private JsonNode body(GatewayRequest request) throws CommandFailed {
    Reply reply = reply(answer(request));
    if (!reply.isSuccess()) {
      throw reply.failure();
    }
    return reply.body();
  }

  /** The answer of a gateway, of any status. Other servers may answer 502 to 504 in its place. */
  private GatewayAnswer answer(GatewayRequest request) throws CommandFailed {
    return answer(request, GatewayAccess.WAIT);
  }

  private GatewayAnswer answer(GatewayRequest request, Duration wait) throws CommandFailed {
    CoatcheckClient gateway = access.client();
    try {
      GatewayAnswer answer = gateway.call(request);
      if (answer.header("Request-Id").isEmpty()) {
        throw noGateway(answer.status());
      }
      return answer;
    } catch (CoatcheckException failed) {
      throw failure(failed, wait);
    }
  }

  private CommandFailed failure(CoatcheckException failed, Duration wait) throws CommandFailed {
    Optional<GatewayAnswer> answer = failed.answer();
    if (answer.isPresent()) {
      return reply(answer.get()).failure();
    }
    String detail = failed.problem().detail();
    String words = Character.toLowerCase(detail.charAt(0)) + detail.substring(1);
    return switch (failed.code()) {
      case Problem.UNREACHABLE ->
          new NoAnswer(
              failed.getCause() instanceof HttpConnectTimeoutException
                  ? "no connection to "
                      + url()
                      + " within "
                      + GatewayAccess.CONNECT_WAIT.toSeconds()
                      + " s. Check --url and the network."
                  : "no gateway answers at " + url() + ". Start one: ./coatcheck serve");
      case Problem.TIMED_OUT ->
          new NoAnswer(
              "the gateway at " + url() + " did not answer within " + wait.toSeconds() + " s.");
      case Problem.TLS_REFUSED ->
          new CommandFailed(
              failed.getCause() instanceof SSLHandshakeException untrusted
                  ? "the certificate of %s is not trusted: %s. Name its root with --ca-file."
                      .formatted(
                          url(),
                          WRAPPING.matcher(String.valueOf(untrusted.getMessage())).replaceFirst(""))
                  : words);
      case Problem.NOT_A_GATEWAY -> noGateway(failed.status());
      case Problem.INTERRUPTED -> new CommandFailed("interrupted.");
      default -> new NoAnswer(words + hint());
    };
  }

  /** A server with a certificate closes a connection that doesn't begin with TLS. */
  private String hint() {
    return url().startsWith("http:")
        ? " If the gateway has a certificate, its address begins with https://."
        : "";
  }

  private CommandFailed noGateway(int status) {
    if (status >= BAD_GATEWAY && status <= GATEWAY_TIMEOUT) {
      return new NoAnswer(
          "a proxy at %s answered %s, so the gateway behind it doesn't answer now. It may be restarting."
              .formatted(url(), status));
    }
    if (status == PAYLOAD_TOO_LARGE) {
      return new CommandFailed(
          "a proxy at "
              + url()
              + " answered 413: it limits the length of a body. Let it pass bodies of 8 MiB, in"
              + " nginx by client_max_body_size 8m, or send the file to the gateway directly.");
    }
    return new CommandFailed(
        "the server at %s is not a Coatcheck gateway (status %s). Check --url."
            .formatted(url(), status));
  }

  /** Every answer of a gateway is an object, whatever its status. */
  private Reply reply(GatewayAnswer from) throws CommandFailed {
    if (from.status() == NO_CONTENT) {
      return new Reply(NO_CONTENT, JSON.createObjectNode());
    }
    try {
      JsonNode answer = JSON.readTree(from.body());
      if (answer instanceof ObjectNode problem) {
        if (from.status() == UNAUTHENTICATED) {
          problem.put(
              "detail",
              "The gateway at %s doesn't accept the API key in %s."
                  .formatted(url(), access.keySource()));
        }
        return new Reply(from.status(), problem);
      }
    } catch (JacksonException other) {
      // Handled like a body that is not an object.
    }
    throw noGateway(from.status());
  }
}

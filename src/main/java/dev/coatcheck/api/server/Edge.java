package dev.coatcheck.api.server;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.core.id.RandomSource;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * The outermost handler. It gives each request its ID. It refuses a request with an unknown method,
 * an ambiguous header or an ambiguous path before any route sees it.
 */
final class Edge extends Handler.Wrapper {
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
  private static final HttpField NO_SNIFFING = new HttpField("X-Content-Type-Options", "nosniff");
  private static final HttpField BY_ACCEPT = new HttpField(HttpHeader.VARY, "Accept");
  private static final String AUTHORIZATION = HttpHeader.AUTHORIZATION.asString();
  private static final int HEADER_VALUE_LENGTH_MAX = 255;

  /** Every character of a text in quotes may have a backslash before it. */
  private static final int QUOTED_LENGTH_MAX = 2 + 2 * HEADER_VALUE_LENGTH_MAX;

  private static final EnumSet<HttpHeader> OF_BODY =
      EnumSet.of(
          HttpHeader.CONTENT_TYPE, HttpHeader.CONTENT_ENCODING, HttpHeader.TRANSFER_ENCODING);

  /** Paths that two programs may interpret differently, or that the router can't decode. */
  private static final Pattern AMBIGUOUS =
      Pattern.compile("(?i)%(00|25|2f|5c|2e|(?![0-9a-f]{2}))|[;\\\\]|/\\.{1,2}(/|$)");

  /** Below it stands the path of a request to another server, which its route checks itself. */
  private static final String OF_ANOTHER_SERVER = "/v1/urls/ext-authz/";

  private static final Pattern AMBIGUOUS_ANYWHERE =
      Pattern.compile("(?i)%(00|2f|5c|2e|(?![0-9a-f]{2}))|\\\\|/\\.{1,2}(/|$)");

  private final RandomSource random;

  Edge(RandomSource random) {
    this.random = random;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    identify(request, response);
    Optional<Problem> refusal = refusal(request);
    if (refusal.isEmpty()) {
      return super.handle(request, response, callback);
    }
    Answer.of(refusal.get()).send(request, response, callback);
    return true;
  }

  void identify(Request request, Response response) {
    // A negative number would be formatted by BigInteger, which is slower.
    String id = "req_" + Long.toString(random.nextLong() >>> 1, 36);
    mark(request, response, id);
  }

  /** Adds the headers of every answer. */
  static void mark(Request request, Response response, String id) {
    RequestId.set(request, response, id);
    response.getHeaders().put(NO_SNIFFING);
    String path = request.getHttpURI().getPath();
    if (path != null && OpenRoute.hasPages(path)) {
      response.getHeaders().put(BY_ACCEPT);
    }
  }

  private static Optional<Problem> refusal(Request request) {
    if (!METHODS.contains(request.getMethod())) {
      return Optional.of(
          Problem.of(ProblemCode.METHOD_NOT_ALLOWED, "No path supports this method."));
    }
    if (request.getHttpURI().getCanonicalPath() == null
        || isAmbiguous(request.getHttpURI().getPath())) {
      return Optional.of(
          Problem.of(
              ProblemCode.PATH_INVALID,
              "The path holds a dot segment, a parameter, an encoded slash, percent or NUL, or a"
                  + " percent sign without two hex digits."));
    }
    HttpFields headers = request.getHeaders();
    // Jetty knows this header by number, without comparing texts.
    if (!isSound(headers, field -> field.getHeader() == HttpHeader.AUTHORIZATION)) {
      return Optional.of(unsound(AUTHORIZATION));
    }
    return isSound(headers, field -> field.is(IdempotencyHeader.NAME))
        ? bodyRefusal(headers)
        : Optional.of(unsound(IdempotencyHeader.NAME));
  }

  /** Programs differ in which of two headers they believe, and only chunks are taken apart here. */
  private static Optional<Problem> bodyRefusal(HttpFields headers) {
    EnumSet<HttpHeader> seen = EnumSet.noneOf(HttpHeader.class);
    for (HttpField field : headers) {
      HttpHeader header = field.getHeader();
      if (header == null || !OF_BODY.contains(header)) {
        continue;
      }
      if (!seen.add(header)) {
        return Optional.of(
            Problem.at(ProblemCode.HEADER_INVALID, header.asString(), "Send this header once."));
      }
      if (header == HttpHeader.TRANSFER_ENCODING && !"chunked".equalsIgnoreCase(field.getValue())) {
        return Optional.of(
            Problem.at(
                ProblemCode.HEADER_INVALID,
                header.asString(),
                "Send the body with a Content-Length, or as Transfer-Encoding: chunked."));
      }
    }
    return Optional.empty();
  }

  private static Problem unsound(String header) {
    return Problem.at(
        ProblemCode.HEADER_INVALID,
        header,
        "Send this header once, with 1 to 255 visible ASCII characters.");
  }

  /** The pattern is slow, and most paths contain no character that it could start with. */
  private static boolean isAmbiguous(String path) {
    for (int i = 0; i < path.length(); i++) {
      if ("%;\\.".indexOf(path.charAt(i)) >= 0) {
        Pattern ambiguous = path.startsWith(OF_ANOTHER_SERVER) ? AMBIGUOUS_ANYWHERE : AMBIGUOUS;
        return ambiguous.matcher(path).find();
      }
    }
    return false;
  }

  private static boolean isSound(HttpFields headers, Predicate<HttpField> isMeant) {
    boolean isSeen = false;
    for (HttpField field : headers) {
      if (isMeant.test(field)) {
        if (isSeen || !isSound(field.getValue())) {
          return false;
        }
        isSeen = true;
      }
    }
    return true;
  }

  private static boolean isSound(@Nullable String value) {
    if (value == null || value.isEmpty()) {
      return false;
    }
    if (value.length() > (value.startsWith("\"") ? QUOTED_LENGTH_MAX : HEADER_VALUE_LENGTH_MAX)) {
      return false;
    }
    for (int i = 0; i < value.length(); i++) {
      if (value.charAt(i) < ' ' || value.charAt(i) > '~') {
        return false;
      }
    }
    return true;
  }
}

package dev.coatcheck.api.console.links;

import dev.coatcheck.api.exchange.Answer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpField;

/** An answer of the gateway, without its body. */
record Told(int status, List<HttpField> headers) {
  private static final String STATUS = "X-Coatcheck-Status";
  private static final String CACHE_CONTROL = "X-Coatcheck-Cache-Control";

  /** What nginx passes on, as {@code docs/edge/nginx.conf} has it. */
  private static final Set<String> PASSED_ON =
      Set.of(
          "location",
          "deprecation",
          "sunset",
          "link",
          "retry-after",
          "ratelimit",
          "ratelimit-policy");

  Told {
    headers = List.copyOf(headers);
  }

  static Told of(Answer answer) {
    return new Told(answer.status(), answer.headers());
  }

  /** The value of a header, or an empty text. */
  String header(String name) {
    return headers.stream()
        .filter(header -> header.is(name))
        .map(HttpField::getValue)
        .findFirst()
        .orElse("");
  }

  String location() {
    return header("Location");
  }

  /** Whether the proxy passes the request on. */
  boolean passesOn() {
    return status == 200;
  }

  /** What the proxy's client gets, unless the request is passed on. */
  Optional<Told> toClient() {
    String clientStatus = header(STATUS);
    if (passesOn() || clientStatus.isEmpty()) {
      return Optional.empty();
    }
    String caching = header(CACHE_CONTROL);
    List<HttpField> passed =
        headers.stream().filter(header -> PASSED_ON.contains(header.getLowerCaseName())).toList();
    return Optional.of(
        new Told(
            Integer.parseInt(clientStatus),
            Stream.concat(
                    passed.stream(),
                    Stream.of(
                        new HttpField("Cache-Control", caching.isEmpty() ? "no-store" : caching)))
                .toList()));
  }
}

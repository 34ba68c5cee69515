package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.ContentNegotiation;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.jetty.server.Request;

/**
 * What comes with a request for a link, or with the request of a proxy.
 *
 * @param headers the values of a header, by its name
 * @param client the address of the connection; few requests need it, and formatting it costs
 */
public record Asked(
    Function<String, List<String>> headers, Supplier<String> client, String requestId) {

  static Asked of(Context ctx) {
    return new Asked(
        name -> Collections.list(ctx.req().getHeaders(name)),
        ctx.req()::getRemoteAddr,
        RequestId.of(ctx));
  }

  public static Asked of(Request request) {
    return new Asked(
        request.getHeaders()::getValuesList,
        () -> Request.getRemoteAddr(request),
        RequestId.of(request));
  }

  Visitor visitor(Proxies proxies) {
    return proxies.visitor(client.get(), headers.apply("X-Forwarded-For"));
  }

  boolean prefersHtml() {
    return ContentNegotiation.prefersHtml(headers.apply("Accept"));
  }

  /** Empty if the client asks for none of the languages. */
  Optional<String> language(Collection<String> languages) {
    return ContentNegotiation.language(headers.apply("Accept-Language"), languages);
  }
}

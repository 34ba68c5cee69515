package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.ClientAddress;
import dev.coatcheck.api.exchange.ContentNegotiation;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import java.net.InetAddress;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.eclipse.jetty.server.Request;

/**
 * What comes with a request for a link, or with the request of a proxy.
 *
 * @param headers the values of a header, by its name
 * @param client the address of the client; few requests need it, and finding it costs
 */
public record Asked(
    Function<String, List<String>> headers,
    Function<Proxies, InetAddress> client,
    String requestId) {

  static Asked of(Context ctx) {
    return new Asked(
        name -> Collections.list(ctx.req().getHeaders(name)),
        proxies -> ClientAddress.of(ctx, proxies),
        RequestId.of(ctx));
  }

  public static Asked of(Request request) {
    return new Asked(
        request.getHeaders()::getValuesList,
        proxies -> ClientAddress.of(request, proxies),
        RequestId.of(request));
  }

  Visitor visitor(Proxies proxies) {
    return Visitor.at(client.apply(proxies));
  }

  boolean prefersHtml() {
    return ContentNegotiation.prefersHtml(headers.apply("Accept"));
  }

  /** Empty if the client asks for none of the languages. */
  Optional<String> language(Collection<String> languages) {
    return ContentNegotiation.language(headers.apply("Accept-Language"), languages);
  }
}

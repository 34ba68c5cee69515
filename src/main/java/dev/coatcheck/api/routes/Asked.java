package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.ClientAddress;
import dev.coatcheck.api.exchange.ContentNegotiation;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.redirect.LegacyCaller;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import java.net.InetAddress;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.eclipse.jetty.server.Request;

/**
 * What comes with a request that may ask for legacy IDs: for a link, for an ID, or with the request
 * of a proxy.
 *
 * @param headers the values of a header, by its name
 * @param client the address of the client; few requests need it, and finding it costs
 * @param keyId of the API key; empty on a route without one
 */
public record Asked(
    Function<String, List<String>> headers,
    Function<Proxies, InetAddress> client,
    String requestId,
    Optional<String> keyId) {

  /** On a route without an API key. */
  public static Asked openly(Context ctx) {
    return of(ctx, Optional.empty());
  }

  /** On a route with an API key. */
  public static Asked of(Context ctx) {
    return of(ctx, Optional.of(RequestCaller.of(ctx).caller().keyId()));
  }

  /** As a client without an API key would ask that sends these headers from the same address. */
  public static Asked stranger(Context ctx, Map<String, String> headers) {
    return new Asked(
        name -> Optional.ofNullable(headers.get(name)).stream().toList(),
        proxies -> ClientAddress.of(ctx, proxies),
        RequestId.of(ctx),
        Optional.empty());
  }

  private static Asked of(Context ctx, Optional<String> keyId) {
    return new Asked(
        name -> Collections.list(ctx.req().getHeaders(name)),
        proxies -> ClientAddress.of(ctx, proxies),
        RequestId.of(ctx),
        keyId);
  }

  public static Asked of(Request request, Optional<Caller> caller) {
    return new Asked(
        request.getHeaders()::getValuesList,
        proxies -> ClientAddress.of(request, proxies),
        RequestId.of(request),
        caller.map(Caller::keyId));
  }

  public LegacyCaller caller(Proxies proxies) {
    return new LegacyCaller(keyId, headers, () -> Visitor.at(client.apply(proxies)));
  }

  public boolean prefersHtml() {
    return ContentNegotiation.prefersHtml(headers.apply("Accept"));
  }

  /** Empty if the client asks for none of the languages. */
  public Optional<String> language(Collection<String> languages) {
    return ContentNegotiation.language(headers.apply("Accept-Language"), languages);
  }
}

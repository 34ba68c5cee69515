package dev.coatcheck.api.server;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.coatcheck.api.exchange.ClientAddress;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.exchange.RequestQuota;
import dev.coatcheck.api.exchange.RequestQuota.Policy;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.TokenBuckets;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * Limits the requests of each API key, and of each address those without a valid API key: with
 * none, with one that is unknown or refused, and to public links. Counts are local to this
 * instance. Never waits and never logs, so any thread may call it.
 */
public final class RateLimits {
  /** Keys share few limits. */
  private static final int LISTED_MAX = 1_000;

  private final Defaults defaults;
  private final Proxies proxies;
  private final TokenBuckets<Quota> keys;
  private final TokenBuckets<Visitor> addresses;
  private final LoadingCache<RateLimit, HttpField> listedForKeys;
  private final Optional<HttpField> listedForAddresses;

  /**
   * The limits of callers without a limit of their own.
   *
   * @param key of each API key; empty: none
   * @param address of each IPv4 address, or /64 of IPv6 addresses; empty: none
   */
  public record Defaults(Optional<RateLimit> key, Optional<RateLimit> address) {
    public static Defaults none() {
      return new Defaults(Optional.empty(), Optional.empty());
    }
  }

  /** What the keys of one chain of rotations with the same limit share. */
  private record Quota(String chain, RateLimit limit) {}

  public RateLimits(Defaults defaults, Proxies proxies, LongSupplier nanoTime) {
    this.defaults = defaults;
    this.proxies = proxies;
    this.keys = new TokenBuckets<>(nanoTime);
    this.addresses = new TokenBuckets<>(nanoTime);
    Optional<String> ofAddress =
        defaults.address().map(limit -> RequestQuota.policy(Policy.ADDRESS, limit));
    this.listedForAddresses = ofAddress.map(RequestQuota::policies);
    this.listedForKeys =
        Caffeine.newBuilder()
            .maximumSize(LISTED_MAX)
            .executor(Runnable::run)
            .build(limit -> RequestQuota.policies(policiesOfKey(limit, ofAddress)));
  }

  /** For a port whose clients are not limited. */
  public static RateLimits none() {
    return new RateLimits(Defaults.none(), Proxies.none(), () -> 0);
  }

  /**
   * Counts a request with a valid API key, unless it was counted. Returns the answer if refused.
   */
  public Optional<Problem> count(Request request, Response response, Caller caller) {
    Optional<RateLimit> applied = caller.rights().limit().or(defaults::key);
    if (applied.isEmpty() || RequestQuota.isCounted(request)) {
      return Optional.empty();
    }
    RateLimit limit = applied.get();
    Quota quota = new Quota(caller.chain(), limit);
    return new RequestQuota(
            Policy.KEY,
            limit,
            (requests, taken) -> keys.take(quota, limit, requests, taken),
            listedForKeys.get(limit))
        .count(request, response);
  }

  /** Counts a request by its address, unless it was counted. Returns the answer if refused. */
  public Optional<Problem> countAddress(Request request, Response response) {
    if (defaults.address().isEmpty() || RequestQuota.isCounted(request)) {
      return Optional.empty();
    }
    RateLimit limit = defaults.address().get();
    Visitor visitor = Visitor.at(ClientAddress.of(request, proxies));
    return new RequestQuota(
            Policy.ADDRESS,
            limit,
            (requests, taken) -> addresses.take(visitor, limit, requests, taken),
            listedForAddresses.orElseThrow())
        .count(request, response);
  }

  Optional<Problem> count(Context ctx, Caller caller) {
    ServletContextRequest request = RequestAccess.request(ctx);
    return count(request, request.getServletContextResponse(), caller);
  }

  Optional<Problem> countAddress(Context ctx) {
    ServletContextRequest request = RequestAccess.request(ctx);
    return countAddress(request, request.getServletContextResponse());
  }

  /** The quota of the address is listed too: it applies once the key is no longer valid. */
  private static String policiesOfKey(RateLimit limit, Optional<String> ofAddress) {
    String ofKey = RequestQuota.policy(Policy.KEY, limit);
    return ofAddress.map(other -> ofKey + ", " + other).orElse(ofKey);
  }
}

package dev.coatcheck.app.demo;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.demo.ShopStore.OldOrder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;

/**
 * Asks for links from the time before the migration, as programs out there do, and checks where
 * they lead: to the public ID whose key is that of the order.
 */
final class LinkTraffic {
  static final String TARGET = "https://shop.example/orders/";
  private static final int KNOWN_MAX = 2_000;
  private static final int NEIGHBOURS = 3;
  private static final Duration WAIT = Duration.ofSeconds(10);

  /** Addresses of a caller, each of which stays far below what the gateway takes for a scan. */
  private static final int ADDRESSES = 200;

  /**
   * Who asks, as they name themselves.
   *
   * @param network the first three bytes of their addresses, from the ranges for documentation
   */
  record Caller(String userAgent, String referrer, String network) {}

  static final List<Caller> CALLERS =
      List.of(
          new Caller(
              "Mozilla/5.0 (X11; Linux x86_64) Firefox/143.0", "https://mail.example/", "192.0.2"),
          new Caller("Mozilla/5.0 (iPhone) Safari/604.1", "https://search.example/", "198.51.100"),
          new Caller("partner-sync/2.4", "https://partner.example/orders", "203.0.113"),
          new Caller("warehouse-scanner/1.0", "https://warehouse.example/", "198.51.100"),
          new Caller("okhttp/4.12.0", "https://app.shop.example/", "192.0.2"));

  private final String url;
  private final GatewayCalls gateway;
  private final ShopStore store;
  private final ShopSize size;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final RandomGenerator random = RandomGenerator.getDefault();
  private final List<OldOrder> known = new CopyOnWriteArrayList<>();
  private final Tally oldLinks = new Tally();
  private final Tally publicLinks = new Tally();

  LinkTraffic(String url, GatewayCalls gateway, ShopStore store, ShopSize size) {
    this.url = url;
    this.gateway = gateway;
    this.store = store;
    this.size = size;
  }

  Tally oldLinks() {
    return oldLinks;
  }

  Tally publicLinks() {
    return publicLinks;
  }

  /** Learns the keys of an order and its neighbours, from the rows, while they have both. */
  void learn() {
    if (known.size() < KNOWN_MAX) {
      try {
        long from = 1 + random.nextLong(size.orders());
        known.addAll(store.filled(from, from + NEIGHBOURS));
      } catch (ShopFailed failed) {
        oldLinks.wrong("the keys of orders can't be read: " + failed.getMessage());
      }
    }
  }

  /** Follows one old link, and the public one that it leads to. */
  void follow(Caller caller) throws InterruptedException {
    if (known.isEmpty()) {
      return;
    }
    OldOrder order = known.get(random.nextInt(known.size()));
    String old = "/legacy/order/" + order.number();
    Optional<String> id = target(caller, old, oldLinks);
    if (id.isEmpty()) {
      return;
    }
    if (key(id.get()).equals(Long.toString(order.key()))) {
      oldLinks.right();
    } else {
      oldLinks.wrong(old + " leads to another order, " + id.get());
    }
    Optional<String> again = target(caller, "/r/" + id.get(), publicLinks);
    if (again.isPresent()) {
      if (again.equals(id)) {
        publicLinks.right();
      } else {
        publicLinks.wrong("/r/" + id.get() + " leads to " + again.get());
      }
    }
  }

  /** The public ID that a link leads to; counts a link that leads nowhere as wrong. */
  private Optional<String> target(Caller caller, String path, Tally tally)
      throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + path))
            .timeout(WAIT)
            .header("User-Agent", caller.userAgent())
            .header("Referer", caller.referrer())
            .header("X-Forwarded-For", caller.network() + "." + (1 + random.nextInt(ADDRESSES)))
            .build();
    try {
      HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      Optional<String> id =
          answer
              .headers()
              .firstValue("Location")
              .filter(location -> location.startsWith(TARGET))
              .map(location -> location.substring(TARGET.length()));
      if (id.isEmpty()) {
        tally.wrong(path + " was answered with " + answer.statusCode() + ": " + answer.body());
      }
      return id;
    } catch (IOException broken) {
      tally.wrong(path + " was not answered: " + broken);
      return Optional.empty();
    }
  }

  private String key(String id) {
    try {
      return gateway.get("/v1/ids/" + id).path("key").asString("");
    } catch (CommandFailed failed) {
      return String.valueOf(failed.getMessage());
    }
  }
}

package dev.coatcheck.api.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.server.Permits;
import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.Credential;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.TestKeys;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests whose work awaits what the test gives, on a server with eight permits. */
@Timeout(60)
class FrontRequestTest {
  private static final int PERMITS = 8;

  private final Observer observer = new Observer();
  private final DatabaseSettings settings = TestDatabase.fresh().settings(2);
  private final Database database = Database.open(settings, "test", observer);
  private final ChangeFeed feed =
      ChangeFeed.open(settings, observer, System::nanoTime, System::currentTimeMillis);
  private final Access access =
      new Access(database, feed, Duration.ofSeconds(60), 1, observer, System::nanoTime);
  private final ApiKeys keys =
      new ApiKeys(database, access::forget, Optional.empty(), new RandomSource());
  private final Permits permits = new Permits(PERMITS);
  private final BlockingQueue<CompletableFuture<Boolean>> begun = new LinkedBlockingQueue<>();
  private final BlockingQueue<Deadline> deadlines = new LinkedBlockingQueue<>();
  private final List<Socket> clients = new ArrayList<>();
  private final Server server = new Server();
  private final ServerConnector connector = new ServerConnector(server);

  @BeforeEach
  void start() throws Exception {
    FrontRequest.Means means =
        new FrontRequest.Means(
            new RequestAccess(access, Proxies.none()),
            RateLimits.none(),
            permits,
            observer,
            new Failures(observer),
            Executors.newVirtualThreadPerTaskExecutor());
    server.addConnector(connector);
    server.setHandler(
        new Handler.Abstract() {
          @Override
          public boolean handle(Request request, Response response, Callback callback) {
            new FrontRequest(means, request, response, callback, () -> route(response, callback))
                .answer(
                    new FrontRequest.Operation(
                        "/", Optional.of(Scope.IDS_READ), _ -> awaiting(request)));
            return true;
          }
        });
    server.start();
  }

  @AfterEach
  void stop() throws Exception {
    for (Socket client : clients) {
      client.close();
    }
    server.stop();
    feed.close();
    database.close();
  }

  /** What the test decides: true for an answer, false for work that has to wait further. */
  private Answer awaiting(Request request) {
    boolean isDone =
        NonBlockingAttempt.await(
            request,
            () -> {
              deadlines.add(Deadline.current());
              CompletableFuture<Boolean> decided = new CompletableFuture<>();
              begun.add(decided);
              return decided;
            });
    if (!isDone) {
      NonBlockingAttempt.leave();
    }
    return Answer.json(200, List.of());
  }

  private void route(Response response, Callback callback) {
    if (Deadline.isBound()) {
      deadlines.add(Deadline.current());
    }
    response.setStatus(204);
    callback.succeeded();
  }

  @Test
  void noKeyHoldsMoreThanHalfOfThePermits() throws Exception {
    String greedy = key("greedy");
    List<Socket> waiting = new ArrayList<>();
    List<CompletableFuture<Boolean>> decisions = new ArrayList<>();
    for (int i = 0; i < PERMITS / 2; i++) {
      waiting.add(send(greedy));
      decisions.add(begun.take());
    }

    assertThat(status(send(greedy)))
        .as("not by the route: its refusals cost as much as answers")
        .isEqualTo("503");
    await().until(() -> observer.scrape().contains("coatcheck_requests_shed_total{route=\"/\"} 1"));
    Socket other = send(key("other"));
    begun.take().complete(true);
    assertThat(status(other)).isEqualTo("200");

    decisions.forEach(decided -> decided.complete(true));
    for (Socket each : waiting) {
      assertThat(status(each)).isEqualTo("200");
    }
    allPermitsAreThere();
  }

  @Test
  void refusedClientsAreToldToComeBackAtDifferentTimes() throws Exception {
    String greedy = key("greedy");
    for (int i = 0; i < PERMITS / 2; i++) {
      Socket _ = send(greedy);
      CompletableFuture<Boolean> _ = begun.take();
    }

    Set<String> seconds = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      seconds.add(retryAfter(send(greedy)));
    }

    assertThat(seconds).hasSizeGreaterThan(1).isSubsetOf("1", "2", "3");
  }

  @Test
  void aRouteThatTakesOverHasTheSameDeadlineAndAllPermits() throws Exception {
    Socket client = send(key("one"));
    begun.take().complete(false);

    assertThat(status(client)).isEqualTo("204");
    assertThat(deadlines.take()).isEqualTo(deadlines.take());
    allPermitsAreThere();
  }

  /** A client may have its answer a moment before the permit is given back. */
  private void allPermitsAreThere() {
    await().untilAsserted(() -> assertThat(permitsThere()).isEqualTo(PERMITS - PERMITS / 4));
  }

  private int permitsThere() {
    List<Permits.Permit> all = new ArrayList<>();
    Optional<Permits.Permit> next = permits.enter(Permits.Share.RESOLVES);
    while (next.isPresent()) {
      all.add(next.get());
      next = permits.enter(Permits.Share.RESOLVES);
    }
    all.forEach(Permits.Permit::close);
    return all.size();
  }

  private String key(String name) {
    String key = TestKeys.create(keys, name, Rights.of(Set.of(Scope.IDS_READ))).secretText();
    Supplier<AccessDecision> decision =
        () ->
            access.decide(
                Credential.of(Optional.of("Bearer " + key)),
                Scope.IDS_READ,
                InetAddress::getLoopbackAddress);
    await()
        .until(
            () -> {
              AccessDecision _ = decision.get();
              return new NonBlockingAttempt<>(decision).run()
                  instanceof NonBlockingAttempt.Outcome.Done<AccessDecision>;
            });
    return key;
  }

  private Socket send(String key) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort());
    clients.add(socket);
    socket
        .getOutputStream()
        .write(
            ("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String retryAfter(Socket socket) throws IOException {
    BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    String line = lines.readLine();
    while (!line.startsWith("Retry-After: ")) {
      line = lines.readLine();
    }
    return line.substring(line.indexOf(' ') + 1);
  }

  private static String status(Socket socket) throws IOException {
    return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII)
        .substring(9);
  }
}

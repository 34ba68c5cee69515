package dev.coatcheck.api.routes;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.TestKeys;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A gateway and API keys for it: {@code @RegisterExtension static final GatewayFixture GATEWAY =
 * GatewayFixture.shared()}. Classes of one JVM take turns with the shared gateway, each with an
 * empty database. The memory of the gateway stays, so a segment's tag and an address that is
 * refused belong to one class. A class whose gateway needs settings, or is broken by its tests,
 * takes its {@link #own}, which closes after its tests.
 *
 * <p>With {@code -Dcoatcheck.test.role=lesser} all gateways use a role that doesn't own the schema.
 */
public final class GatewayFixture implements AutoCloseable, BeforeAllCallback, AfterAllCallback {
  /** All that a gateway may find on its first start: what was granted stays granted. */
  private static final String EMPTY =
      """
      do $$ begin
        execute (
          select 'truncate ' || string_agg(format('coatcheck.%I', relname), ', ')
            from pg_class
           where relnamespace = 'coatcheck'::regnamespace and relkind = 'r'
             and relname not in ('api_key', 'change_head', 'flyway_schema_history',
                                 'idempotency_turn', 'key_fence', 'lease_window', 'worker_lease',
                                 'worker_lease_origin'));
        -- A feed that leaps tells each cache that it may have missed something.
        update coatcheck.change_head set number = number + 10;
      end $$\
      """;

  private static @Nullable GatewayFixture shared;

  public final TestDatabase database;
  private final Gateway gateway;
  private final HttpClient http = TestClient.connections();
  private final String key;

  /**
   * The gateway of this JVM; its database is empty when the tests of a class begin. A visitor is
   * whom X-Forwarded-For names.
   */
  public static GatewayFixture shared() {
    if (shared == null) {
      GatewayFixture opened = own("COATCHECK_TRUSTED_PROXIES", "127.0.0.0/8");
      TestServer.endBefore(opened::close);
      shared = opened;
    }
    return shared;
  }

  /** A gateway on a database of its own; settings by name and value. */
  public static GatewayFixture own(String... settings) {
    return on(TestDatabase.fresh(), settings);
  }

  /** The same, as a role that may use the schema and doesn't own it. */
  static GatewayFixture asLesserRole() {
    TestDatabase database = TestDatabase.fresh();
    Map<String, String> settings = ofLesserRole(database);
    return new GatewayFixture(database, settings, keyOn(database));
  }

  private static Map<String, String> ofLesserRole(TestDatabase database) {
    TestDatabase lesser = database.asLesserRole();
    return Map.of(
        "COATCHECK_MIGRATE", "false",
        "COATCHECK_DATABASE_USER", lesser.user(),
        "COATCHECK_DATABASE_PASSWORD", lesser.password());
  }

  public static GatewayFixture on(TestDatabase database, String... settings) {
    return new GatewayFixture(database, byName(settings), keyOn(database));
  }

  /** With types that are older than two minutes: clients keep no answers about newer ones. */
  public static GatewayFixture withOldTypes(TestType... types) {
    try (GatewayFixture before = own()) {
      for (TestType type : types) {
        TestClient.assertPut(before.client().put(type));
      }
      before.execute("update coatcheck.change set created_at = created_at - interval '3 minutes'");
      return on(before.database);
    }
  }

  private static Map<String, String> byName(String... settings) {
    Map<String, String> byName = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      byName.put(settings[i], settings[i + 1]);
    }
    return byName;
  }

  @Override
  public void beforeAll(ExtensionContext testClass) {
    if (this != shared) {
      return;
    }
    execute(EMPTY);
    Awaitility.await()
        .pollInterval(Duration.ofMillis(10))
        .until(() -> client().get("/v1/types").body().at("/data").isEmpty());
  }

  private GatewayFixture(TestDatabase database, Map<String, String> settings, String key) {
    this.database = database;
    this.key = key;
    try {
      gateway = Gateway.start(config(database, settings));
    } catch (StartFailed failed) {
      throw new AssertionError(failed);
    }
  }

  private static Config config(TestDatabase database, Map<String, String> settings) {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "COATCHECK_PORT", "0",
                "COATCHECK_DATABASE_CONNECTIONS", "4", // each is opened at the start
                "COATCHECK_DATABASE_URL", database.url(),
                "COATCHECK_DATABASE_USER", database.user(),
                "COATCHECK_DATABASE_PASSWORD", database.password()));
    if ("lesser".equals(System.getProperty("coatcheck.test.role"))) {
      environment.putAll(ofLesserRole(database));
    }
    environment.putAll(settings);
    return switch (Config.read(environment, Map.of())) {
      case Config.Parsed.Valid(Config valid) -> valid;
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }

  /** A key that may do all, for a gateway in a process of its own. */
  public static String keyOn(TestDatabase database) {
    return issue(database, "test", Set.of(Scope.ALL));
  }

  /** Some on one database, with the same API key, to be closed one by one. */
  static List<GatewayFixture> sharing(int gateways) {
    TestDatabase database = TestDatabase.fresh();
    String key = keyOn(database);
    return Stream.generate(() -> new GatewayFixture(database, Map.of(), key))
        .limit(gateways)
        .toList();
  }

  /** A client that may do all. */
  public TestClient client() {
    return new TestClient(http, uri(), key);
  }

  /** Changes the database behind the gateway's back. */
  public void execute(String sql) {
    sql().execute(sql);
  }

  /** The first column of the first row. */
  public long count(String sql) {
    return sql().number(sql);
  }

  /** Statements beside the gateway's. */
  public TestSql sql() {
    return database.sql();
  }

  /** A key with this scope, for all types if none is named. */
  public String keyWith(Scope scope, String... types) {
    String issued = issue(scope);
    if (types.length > 0) {
      execute(
          "update coatcheck.api_key set types = '{%s}' where key_id = '%s'"
              .formatted(String.join(",", types), issued.substring(9, 21)));
    }
    return issued;
  }

  public TestClient clientWith(Scope scope) {
    return new TestClient(http, uri(), issue(scope));
  }

  /** A client whose API key has these scopes. */
  TestClient clientWith(Set<Scope> scopes) {
    return new TestClient(http, uri(), issue(database, "test", scopes));
  }

  /** Same, with further rights by an SQL assignment: {@code types = '{charge}'}. */
  TestClient clientWith(Set<Scope> scopes, String rights) {
    String key = issue(database, "test", scopes);
    execute(
        "update coatcheck.api_key set %s where key_id = '%s'"
            .formatted(rights, key.substring(9, 21)));
    return new TestClient(http, uri(), key);
  }

  /** A client that acts as a principal of its own, whose name no other class may use. */
  TestClient clientOf(String principal, Scope scope) {
    return new TestClient(http, uri(), issue(database, principal, Set.of(scope)));
  }

  /** Sends bytes as they are, with its key unless the headers have one of their own. */
  RawHttp.Reply raw(String requestLine, byte[] body, boolean isChunked, String... headers)
      throws IOException {
    List<String> lines =
        new ArrayList<>(
            List.of(
                requestLine + " HTTP/1.1",
                "Host: gateway",
                "Connection: close",
                isChunked ? "Transfer-Encoding: chunked" : "Content-Length: " + body.length));
    if (Stream.of(headers).noneMatch(header -> header.startsWith("Authorization"))) {
      lines.add("Authorization: Bearer " + key);
    }
    lines.addAll(List.of(headers));
    return RawHttp.send(
        "127.0.0.1",
        uri().getPort(),
        RawHttp.request(lines, isChunked ? RawHttp.chunked(body, 8_000) : body));
  }

  public URI uri() {
    return URI.create(gateway.url());
  }

  /** The port for the public. */
  public URI publicUri() {
    return uri().resolve("//127.0.0.1:" + gateway.publicPort().orElseThrow() + "/");
  }

  public URI managementUri() {
    return URI.create("http://127.0.0.1:" + gateway.managementPort().orElseThrow());
  }

  public String key() {
    return key;
  }

  /** Takes Postgres away from the gateway, or gives it back and waits until the gateway has it. */
  public void setReachable(boolean reachable) {
    database.setReachable(reachable);
    if (reachable) {
      Awaitility.await().until(() -> client().get("/v1/workers").status() == 200);
    }
  }

  /** Ends a key as the command line does: from another process. */
  public void revokeKey(String key) {
    KeyOutcome outcome =
        withKeys(database, keys -> keys.revoke(key.substring(9, 21), false, Actor.operator()));
    if (!(outcome instanceof KeyOutcome.Revoked)) {
      throw new AssertionError("no such key");
    }
  }

  private String issue(Scope scope) {
    return issue(database, "test", Set.of(scope));
  }

  private static String issue(TestDatabase on, String name, Set<Scope> scopes) {
    return withKeys(on, keys -> TestKeys.create(keys, name, Rights.of(scopes))).secretText();
  }

  private static <T> T withKeys(TestDatabase on, Function<ApiKeys, T> work) {
    try (Database opened = Database.open(on.settings(1), "test-keys", new Observer())) {
      return work.apply(new ApiKeys(opened, _ -> {}, Optional.empty(), new RandomSource()));
    }
  }

  @Override
  public void afterAll(ExtensionContext testClass) {
    if (this != shared) {
      close();
    }
  }

  @Override
  public void close() {
    http.shutdown();
    gateway.close();
  }
}

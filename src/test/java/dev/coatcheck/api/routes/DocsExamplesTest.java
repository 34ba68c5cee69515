package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.Contract.Sent;
import dev.coatcheck.api.routes.ContractDocument.Operation;
import dev.coatcheck.core.id.Bucket;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.registry.TestType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The page sends the examples of the contract to this gateway. Here they are sent to a database
 * that has what they name, each twice.
 */
class DocsExamplesTest {
  private static final String API_KEY = "key_4KIWSf8WvPN0";
  private static final String LEASE = "9f86d081884c7d659a2feaa0c55ad015";
  private static final String CHARGE = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
  private static final String SURVIVOR = "ch_2wbCRIWJxGRzqNDIxGhnuFbN";
  private static final String MESSAGE = "msg_3v1p5s86PPQOrcUoEzHqYo7K";
  private static final String USER = "usr_1a7fdAu9Sre9Hu2XDdAG2sDL";
  private static final ContractDocument DOCUMENT = ContractDocument.read();

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient CLIENT = GATEWAY.client();

  /** Runs of table migrations need a table of their own, and go through one state after another. */
  private static boolean needsARun(Operation operation) {
    return operation.path().startsWith("/v1/table-migrations");
  }

  /** No gateway has the seal key of an example, and an era begins once. */
  private static boolean needsASealKey(Operation operation) {
    return List.of("addEra", "pinKeys").contains(operation.id());
  }

  @Test
  void noExampleOfThePagesFailsWhenItIsSentTwice() {
    List<String> failures = new ArrayList<>();
    CLIENT.put(TestType.of("charge", "ch"));
    // While types have no public IDs, their examples take the place of each other.
    sendTwice(failures, operation -> isTagged(operation, "Types"));
    fill();
    sendTwice(failures, operation -> !isTagged(operation, "Types") && !isTagged(operation, "End"));
    for (Operation ending : DOCUMENT.operations()) {
      if (isTagged(ending, "End") && !asksAfterErasure(ending)) {
        revive();
        sendTwice(failures, ending::equals);
        if (ending.id().equals("eraseId")) {
          sendTwice(failures, DocsExamplesTest::asksAfterErasure);
        }
      }
    }

    assertThat(failures).isEmpty();
  }

  private static boolean asksAfterErasure(Operation operation) {
    return operation.id().equals("getErasure");
  }

  private static boolean isTagged(Operation operation, String tag) {
    return operation.node().at("/tags/0").stringValue().equals(tag);
  }

  private static void sendTwice(List<String> failures, Predicate<Operation> which) {
    int sent = 0;
    for (Operation operation : DOCUMENT.operations()) {
      if (which.test(operation) && !needsARun(operation) && !needsASealKey(operation)) {
        for (Map.Entry<String, Sent> example : DOCUMENT.requests(operation).entrySet()) {
          for (int time = 1; time <= 2; time++) {
            if (example.getValue().target().contains("/" + API_KEY)) {
              reviveKey();
            }
            if (example.getValue().target().endsWith("/" + LEASE)) {
              reviveLease();
            }
            TestClient.Reply reply = send(example.getValue());
            if (reply.status() >= 400) {
              failures.add(
                  "%s, %s, time %d: %d %s"
                      .formatted(
                          operation.id(), example.getKey(), time, reply.status(), reply.body()));
            }
            sent++;
          }
        }
      }
    }
    assertThat(sent).isPositive();
  }

  private static TestClient.Reply send(Sent sent) {
    // A page sends what it asks for; only browsers find something at the root.
    String accept = sent.target().equals("/") ? "text/html" : "*/*";
    TestClient client = CLIENT.hostile().with("Accept", accept);
    for (Map.Entry<String, List<String>> header : sent.headers().entrySet()) {
      if (!header.getKey().equals("Authorization")) {
        client = client.with(header.getKey(), header.getValue().getFirst());
      }
    }
    return client.send(sent.method(), sent.target(), sent.body());
  }

  private static void fill() {
    CLIENT.put(
        TestType.of("charge", "ch")
            .redirect("https://app.example.com/charges/{id}")
            .with("legacy", Map.of())
            .with("url_templates", List.of("/charges/{legacy:charge}")));
    CLIENT.put(TestType.of("message", "msg"));
    CLIENT.put(TestType.of("user", "usr").uuids());
    CLIENT.put(TestType.of("order", "ord"));
    CLIENT.put("/v1/segments/invoice", "{\"bits\":32}");
    Key user = new Key.Uuid(UUID.fromString("01a1fd3c-753a-7c3e-9a41-6f0d2be8175c"));
    byte[] salt = give("charge", CHARGE, new Key.Bigint(514_719_115_370_328_064L));
    give("message", MESSAGE, new Key.Bigint(514_719_418_970_828_801L));
    give("user", USER, user);
    insert("charge", SURVIVOR, keyOf(SURVIVOR, salt));
    Awaitility.await("the salts")
        .until(() -> CLIENT.get("/v1/types/user").header("ETag"), "\"9\""::equals);
    CLIENT.send("PUT", "/v1/ids/" + CHARGE + "/aliases/legacy/4711", null);
  }

  /**
   * Makes a public ID of a contract's example that of a key: by the salt, which gives the bucket.
   */
  private static byte[] give(String type, String id, Key key) {
    byte[] salt =
        LongStream.iterate(1, n -> n + 1)
            .mapToObj(n -> ByteBuffer.allocate(16).putLong(n).array())
            .filter(some -> Bucket.ofKey(some, key.toBytes()) == token(id).bucket())
            .findFirst()
            .orElseThrow();
    GATEWAY.execute(
        "update coatcheck.type set version = 9, salt = '\\x%s' where name = '%s'"
            .formatted(HexFormat.of().formatHex(salt), type));
    insert(type, id, key);
    return salt;
  }

  private static Key keyOf(String id, byte[] salt) {
    return LongStream.iterate(1, n -> n + 1)
        .<Key>mapToObj(Key.Bigint::new)
        .filter(key -> Bucket.ofKey(salt, key.toBytes()) == token(id).bucket())
        .findFirst()
        .orElseThrow();
  }

  private static void insert(String type, String id, Key key) {
    GATEWAY.execute(
        """
        insert into coatcheck.%s (key, token, type_id, bucket)
        select '%s', '%s', type_id, %d from coatcheck.type where name = '%s';
        """
                .formatted(
                    key instanceof Key.Uuid ? "public_id_uuid" : "public_id",
                    key.text(),
                    token(id).toUuid(),
                    token(id).bucket(),
                    type)
            + LEAP);
  }

  private static Token token(String id) {
    return ((ParsedId.Valid) PublicId.parse(id)).id().token();
  }

  /** A feed that leaps tells each cache, and the registry, that they may have missed something. */
  private static final String LEAP = "update coatcheck.change_head set number = number + 10";

  /** A lease is renewed once under one mark, and released once, by design. */
  private static void reviveLease() {
    GATEWAY.execute(
        """
        delete from coatcheck.worker_lease where worker = 417;
        insert into coatcheck.worker_lease (layout, worker, epoch, granted_until_ms, expires_at,
          timeline, system_identifier, holder, lease_hash, principal)
        select 'default', 417, 12, 0, now() + interval '1 day', timeline, system_identifier, 'shop-1',
               sha256('%s'), (select principal from coatcheck.api_key where key_id = '%s')
          from coatcheck.key_fence
        """
            .formatted(LEASE, GATEWAY.key().substring(9, 21)));
  }

  /** A key is rotated or revoked once, by design. */
  private static void reviveKey() {
    GATEWAY.execute(
        """
        delete from coatcheck.api_key where key_id = '%1$s';
        insert into coatcheck.api_key (key_id, secret_hash, name, principal, scopes)
        values ('%1$s', sha256('edge'), 'edge', 'edge', '{ids:read}')
        """
            .formatted(API_KEY.substring("key_".length())));
  }

  /** Undoes endings, so that the examples of the next operation find their public IDs in force. */
  private static void revive() {
    GATEWAY.execute(
        "delete from coatcheck.ending; update coatcheck.public_id set status = 0; " + LEAP);
    Awaitility.await("no endings")
        .until(
            () ->
                CLIENT
                    .post("/v1/ids/resolve", TestClient.json("ids", List.of(CHARGE, SURVIVOR)))
                    .body()
                    .at("/data")
                    .findValuesAsString("status")
                    .stream()
                    .filter("active"::equals)
                    .count(),
            count -> count == 2);
  }
}

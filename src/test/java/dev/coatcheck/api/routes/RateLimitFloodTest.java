package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.access.TokenBuckets;
import java.io.BufferedInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** More addresses than there are buckets. */
class RateLimitFloodTest {
  private static final int QUOTA = 500;
  private static final int SECONDS = 3_600;
  private static final String LINK = "/r/" + TestClient.UNKNOWN_ID;

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own(
          "COATCHECK_LIMIT_ADDRESS",
          QUOTA + "/" + SECONDS,
          "COATCHECK_TRUSTED_PROXIES",
          "127.0.0.0/8");

  @Test
  @Tag("faults")
  @Tag("alone")
  void aFloodFromManyAddressesRenewsNoQuotaAndTheNextAnswersAreRight() throws Exception {
    TestClient attacker = from("192.0.2.1");
    long start = System.nanoTime();
    int first = requestsUntilRefused(attacker);
    assertThat(first).isBetween(QUOTA, QUOTA + renewedSince(start));
    long refused = System.nanoTime();

    flood(TokenBuckets.BUCKETS_MAX + 10_000);

    int second = requestsUntilRefused(attacker);
    assertThat(second).isLessThanOrEqualTo(renewedSince(refused));
    assertThat(from("192.0.2.2").get(LINK).status()).isEqualTo(404);
    new NextAnswers(GATEWAY.uri(), GATEWAY.key()).areRight();
  }

  private static int requestsUntilRefused(TestClient client) {
    for (int answered = 0; ; answered++) {
      TestClient.Reply answer = client.get(LINK);
      if (answer.status() != 404) {
        assertProblem(answer, "429 quota_exceeded");
        return answered;
      }
    }
  }

  /** What time alone gives back, at most. */
  private static int renewedSince(long nanos) {
    long seconds = Duration.ofNanos(System.nanoTime() - nanos).toSeconds();
    return (int) (1 + (seconds + 1) * QUOTA / SECONDS);
  }

  private static void flood(int addresses) throws Exception {
    int each = 200;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort())) {
      InputStream answers = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      for (int sent = 0; sent < addresses; sent += each) {
        StringBuilder requests = new StringBuilder();
        for (int i = sent; i < sent + each; i++) {
          requests.append(
              "GET %s HTTP/1.1\r\nHost: gateway\r\nX-Forwarded-For: 10.%d.%d.%d\r\n\r\n"
                  .formatted(LINK, i >> 16, i >> 8 & 255, i & 255));
        }
        socket.getOutputStream().write(requests.toString().getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < each; i++) {
          assertThat(RawHttp.read(answers, false).status()).isEqualTo(404);
        }
      }
    }
  }

  private static TestClient from(String address) {
    return GATEWAY.client().anonymous().with("X-Forwarded-For", address);
  }
}

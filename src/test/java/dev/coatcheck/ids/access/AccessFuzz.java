package dev.coatcheck.ids.access;

import static dev.coatcheck.FuzzTexts.requireSame;

import dev.coatcheck.FuzzTexts;
import dev.coatcheck.core.id.RandomSource;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Who calls, and from where: API keys, scopes, addresses and networks. */
public final class AccessFuzz {
  private static final Proxies PROXIES = Proxies.parse("127.0.0.0/8,fd00::/8");

  private AccessFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    Credential credential = Credential.of(Optional.of("Bearer " + text));
    if (credential instanceof Credential.Key(ApiKey key)) {
      requireSame(text, key.secretText());
    }
    if (credential.toString().contains(text) && text.length() > "ccg_live_".length() + 12) {
      throw new AssertionError("the API key is shown: " + credential);
    }
    Credential _ = Credential.of(Optional.of(text));
    Scope.named(text).ifPresent(scope -> requireSame(text, scope.name()));
    AddressRange.parse(text)
        .ifPresent(
            range -> {
              requireSame(range, AddressRange.parse(range.toString()).orElseThrow());
              if (!range.holds(range) || !range.holds(range.address())) {
                throw new AssertionError(range + " doesn't hold itself");
              }
            });
    var _ = PROXIES.client(InetAddress.getLoopbackAddress(), List.of(text));
    try {
      Proxies _ = Proxies.parse(text);
    } catch (IllegalArgumentException named) {
      String _ = named.getMessage();
    }
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    FuzzTexts.write(
        arguments[0],
        ApiKey.generate(new RandomSource()).secretText(),
        "ccg_live_2bN8Qx0LmT4a_Zk3",
        "ids:read",
        "10.0.0.7",
        "10.1.0.0/16",
        "fd00::/8",
        "::ffff:10.0.0.1/104",
        "fe80::1%eth0",
        "10.0.0.7, 10.1.0.0/16,fd00::/8");
  }
}

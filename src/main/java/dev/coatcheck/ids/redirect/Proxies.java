package dev.coatcheck.ids.redirect;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reverse proxies in front of the gateway. X-Forwarded-For is trusted only if it comes from one
 * of them.
 */
public final class Proxies {
  private static final Pattern ENTRY = Pattern.compile("([0-9A-Fa-f:.]+)(?:/([0-9]{1,3}))?");

  /** How many addresses of X-Forwarded-For are read, from the last one back. */
  private static final int HOPS_MAX = 20;

  private final List<Network> networks;

  private record Network(InetAddress address, int bits) {
    boolean holds(InetAddress other) {
      byte[] ours = address.getAddress();
      byte[] theirs = other.getAddress();
      if (ours.length != theirs.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        if (((ours[bit / 8] ^ theirs[bit / 8]) & (0x80 >> bit % 8)) != 0) {
          return false;
        }
      }
      return true;
    }
  }

  private Proxies(List<Network> networks) {
    this.networks = List.copyOf(networks);
  }

  public static Proxies none() {
    return new Proxies(List.of());
  }

  /**
   * Reads a comma list of addresses and networks, {@code 10.0.0.7, 10.1.0.0/16, fd00::/8}.
   *
   * @throws IllegalArgumentException naming the first entry that is neither
   */
  public static Proxies parse(String list) {
    List<Network> networks = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      networks.add(
          network(part.strip())
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "\"" + part.strip() + "\" is no address and no network")));
    }
    return new Proxies(networks);
  }

  /**
   * The client: the last address on the way that is not one of our proxies.
   *
   * @param socketAddress the other end of the socket, a literal
   * @param forwardedFor the values of X-Forwarded-For, in their order
   */
  public Visitor visitor(String socketAddress, List<String> forwardedFor) {
    String nearest = socketAddress;
    List<String> hops = Arrays.asList(String.join(",", forwardedFor).split(","));
    for (int back = 1; back <= Math.min(hops.size(), HOPS_MAX) && trust(nearest); back++) {
      String hop = hops.get(hops.size() - back).strip();
      if (literal(hop).isEmpty()) {
        break;
      }
      nearest = hop;
    }
    return Visitor.at(nearest);
  }

  private boolean trust(String address) {
    return !networks.isEmpty()
        && literal(address)
            .filter(found -> networks.stream().anyMatch(network -> network.holds(found)))
            .isPresent();
  }

  private static Optional<Network> network(String entry) {
    Matcher parts = ENTRY.matcher(entry);
    if (!parts.matches()) {
      return Optional.empty();
    }
    return literal(parts.group(1))
        .map(address -> new Network(address, bits(address, parts.group(2))))
        .filter(network -> network.bits() <= bits(network.address(), null));
  }

  private static int bits(InetAddress address, @Nullable String prefixLength) {
    return prefixLength == null
        ? address.getAddress().length * Byte.SIZE
        : Integer.parseInt(prefixLength);
  }

  private static Optional<InetAddress> literal(String address) {
    try {
      return Optional.of(InetAddress.ofLiteral(address));
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }
}

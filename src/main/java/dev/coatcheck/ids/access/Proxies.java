package dev.coatcheck.ids.access;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The reverse proxies in front of the gateway. X-Forwarded-For is trusted only if it comes from one
 * of them.
 */
public final class Proxies {
  /** How many addresses of X-Forwarded-For are read, from the last one back. */
  private static final int HOPS_MAX = 20;

  /** An address as some proxies write it: an IPv6 address in brackets, a port behind either. */
  private static final Pattern WITH_PORT =
      Pattern.compile("^(?:\\[([^\\]]*)](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5})$");

  private final List<AddressRange> networks;

  private Proxies(List<AddressRange> networks) {
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
    List<AddressRange> networks = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      networks.add(
          AddressRange.parse(part.strip())
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
   * @param socket the other end of the socket
   * @param forwardedFor the values of X-Forwarded-For, in their order
   */
  public InetAddress client(InetAddress socket, List<String> forwardedFor) {
    if (!trust(socket)) {
      return socket;
    }
    InetAddress nearest = socket;
    List<String> hops = Arrays.asList(String.join(",", forwardedFor).split(","));
    for (int back = 1; back <= Math.min(hops.size(), HOPS_MAX) && trust(nearest); back++) {
      Optional<InetAddress> hop = address(hops.get(hops.size() - back).strip());
      if (hop.isEmpty()) {
        break;
      }
      nearest = hop.get();
    }
    return nearest;
  }

  private static Optional<InetAddress> address(String hop) {
    return AddressRange.plainAddress(WITH_PORT.matcher(hop).replaceFirst("$1$2"));
  }

  /** Whether the other end of a socket is one of our proxies. */
  public boolean trust(InetAddress address) {
    for (AddressRange network : networks) { // no stream: asked for each request to a public link
      if (network.holds(address)) {
        return true;
      }
    }
    return false;
  }
}

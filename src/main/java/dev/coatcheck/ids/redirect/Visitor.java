package dev.coatcheck.ids.redirect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * A client without an API key, told by its address: an IPv4 address, or the /64 of an IPv6 address,
 * which is the smallest network that a household gets.
 */
public record Visitor(boolean isIpv6, long network) {
  private static final Visitor UNKNOWN = new Visitor(false, -1);

  /**
   * By an address.
   *
   * @param address a literal; all other texts count as one and the same visitor
   */
  public static Visitor at(String address) {
    try {
      InetAddress parsed = InetAddress.ofLiteral(address);
      ByteBuffer bytes = ByteBuffer.wrap(parsed.getAddress());
      return parsed instanceof Inet6Address
          ? new Visitor(true, bytes.getLong())
          : new Visitor(false, Integer.toUnsignedLong(bytes.getInt()));
    } catch (IllegalArgumentException unreadable) {
      return UNKNOWN;
    }
  }
}

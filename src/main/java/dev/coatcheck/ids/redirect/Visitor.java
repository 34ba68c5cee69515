package dev.coatcheck.ids.redirect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * Who asks without a key, as far as one can tell: an IPv4 address, or the /64 of an IPv6 address,
 * which is the least that a household is given.
 */
public record Visitor(boolean isIpv6, long network) {
  private static final Visitor UNKNOWN = new Visitor(false, -1);

  /**
   * By an address.
   *
   * @param address a literal; whatever is none counts as one and the same visitor
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

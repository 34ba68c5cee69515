package dev.coatcheck.ids.redirect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * A client without an API key, told by its address: an IPv4 address, or the /64 of an IPv6 address,
 * which is the smallest network that a household gets.
 */
public record Visitor(boolean isIpv6, long network) {

  public static Visitor at(InetAddress address) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return address instanceof Inet6Address
        ? new Visitor(true, bytes.getLong())
        : new Visitor(false, Integer.toUnsignedLong(bytes.getInt()));
  }
}

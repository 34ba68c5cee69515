package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProxiesTest {
  private static final Proxies OURS = Proxies.parse("10.0.0.7, 10.1.0.0/16,fd00::/8,10.2.0.0/15");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "192.0.2.1 | 203.0.113.9 | 192.0.2.1",
        "10.0.0.7 | 203.0.113.9 | 203.0.113.9",
        "10.0.0.8 | 203.0.113.9 | 10.0.0.8",
        "10.1.255.255 | 203.0.113.9 | 203.0.113.9",
        "10.3.0.1 | 203.0.113.9 | 203.0.113.9",
        "10.4.0.1 | 203.0.113.9 | 10.4.0.1",
        "fd12::1 | 2001:db8:1:2::9 | 2001:db8:1:2::9",
        "fe12::1 | 203.0.113.9 | fe12::1",
        "10.0.0.7 | 198.51.100.1, 203.0.113.9 | 203.0.113.9",
        "10.0.0.7 | 203.0.113.9, 10.1.2.3 | 203.0.113.9",
        "10.0.0.7 | 203.0.113.9, evil, 10.1.2.3 | 10.1.2.3",
        "10.0.0.7 | 10.1.2.3 | 10.1.2.3",
        "10.0.0.7 | 203.0.113.9:4711 | 203.0.113.9",
        "10.0.0.7 | 203.0.113.9:4711, 10.1.2.3:80 | 203.0.113.9",
        "10.0.0.7 | [2001:db8::1]:443 | 2001:db8::1",
        "10.0.0.7 | [2001:db8::1] | 2001:db8::1",
        "10.0.0.7 | 203.0.113.9: | 10.0.0.7",
        "10.0.0.7 | 203.0.113.9:port | 10.0.0.7",
        "10.0.0.7 | [203.0.113.9]:[80] | 10.0.0.7",
        "10.0.0.7 | 010.1.2.3 | 10.0.0.7",
        "10.0.0.7 | 10.1 | 10.0.0.7",
        "10.0.0.7 | 167838211 | 10.0.0.7",
        "10.0.0.7 | 203.0.113.9/32 | 10.0.0.7",
        "10.0.0.7 | 203.0.113.009:80 | 10.0.0.7",
        "10.0.0.7 | '' | 10.0.0.7",
        "10.0.0.7 | ',,,' | 10.0.0.7",
      })
  void theClientIsTheLastAddressThatIsNoProxyOfOurs(
      String socket, String forwarded, String client) {
    assertThat(OURS.client(at(socket), List.of(forwarded))).isEqualTo(at(client));
  }

  @Test
  void severalHeadersAreOneListAndNoneIsNone() {
    assertThat(OURS.client(at("10.0.0.7"), List.of("198.51.100.1", "203.0.113.9")))
        .isEqualTo(at("203.0.113.9"));
    assertThat(OURS.client(at("10.0.0.7"), List.of())).isEqualTo(at("10.0.0.7"));
    assertThat(Proxies.none().client(at("10.0.0.7"), List.of("203.0.113.9")))
        .isEqualTo(at("10.0.0.7"));
  }

  @Test
  void anEndlessListIsReadForAWhile() {
    assertThat(
            OURS.client(
                at("10.0.0.7"), List.of("203.0.113.9," + "10.1.0.1,".repeat(5_000) + "10.1.0.2")))
        .isEqualTo(at("10.1.0.1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",",
        "10.0.0.7,",
        "proxy.example",
        "10.0.0.0/33",
        "fd00::/129",
        "10.0.0.7:80",
        "*"
      })
  void anythingElseIsRefused(String list) {
    assertThatThrownBy(() -> Proxies.parse(list)).isInstanceOf(IllegalArgumentException.class);
  }

  private static InetAddress at(String literal) {
    return InetAddress.ofLiteral(literal);
  }
}

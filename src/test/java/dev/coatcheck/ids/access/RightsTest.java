package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class RightsTest {
  private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
  private static final Rights ALL = Rights.of(Set.of(Scope.ALL));
  private static final Rights SOME =
      new Rights(
          Set.of(Scope.IDS_READ, Scope.IDS_WRITE),
          Optional.of(Set.of("charge", "user")),
          ranges("10.0.0.0/8", "2001:db8::/32"),
          Optional.of(new RateLimit(100, 10)),
          Optional.of(4),
          Optional.of(NOON));

  @Test
  void rightsCoverThemselvesAndAllCoverAny() {
    assertThat(beyond(SOME, SOME)).isEmpty();
    assertThat(beyond(ALL, SOME)).isEmpty();
    assertThat(beyond(ALL, ALL)).isEmpty();
    assertThat(beyond(SOME, ALL)).isPresent();
  }

  @Test
  void eachScopeIsNeededAndAStarCoversAStar() {
    assertThat(covers(with(Scope.IDS_READ))).isEmpty();
    assertThat(covers(with(Scope.IDS_READ, Scope.IDS_END))).contains("scopes");
    assertThat(covers(with(Scope.ALL))).contains("scopes");
    // A later version may know a scope that this one doesn't.
    assertThat(beyond(ALL, with(new Scope("later:scope")))).isEmpty();
  }

  @Test
  void noListOfTypesIsMoreThanAnyList() {
    assertThat(covers(ofTypes(Optional.of(Set.of("charge"))))).isEmpty();
    assertThat(covers(ofTypes(Optional.of(Set.of("charge", "order"))))).contains("types");
    assertThat(covers(ofTypes(Optional.empty()))).contains("types");
  }

  @Test
  void eachRangeLiesInOneRange() {
    assertThat(covers(ofRanges(ranges("10.1.0.0/16", "10.0.0.7", "2001:db8:1::/48")))).isEmpty();
    assertThat(covers(ofRanges(ranges("10.0.0.0/8")))).isEmpty();
    assertThat(covers(ofRanges(ranges("10.0.0.0/7")))).contains("ranges");
    assertThat(covers(ofRanges(ranges("0.0.0.0/0")))).contains("ranges");
    assertThat(covers(ofRanges(ranges("10.1.0.0/16", "192.168.0.0/16")))).contains("ranges");
    assertThat(covers(ofRanges(ranges("::/0")))).contains("ranges");
    assertThat(covers(ofRanges(Optional.empty()))).contains("ranges");
  }

  /** As requests for each second: SOME has 100 in 10 s. */
  @Test
  void aLimitIsNoHigherAtOnceAndAsARate() {
    assertThat(covers(ofLimit(10, 1))).isEmpty();
    assertThat(covers(ofLimit(100, 3_600))).isEmpty();
    assertThat(covers(ofLimit(11, 1))).contains("limit");
    assertThat(covers(ofLimit(101, 11))).contains("limit");
    assertThat(covers(ofLimit(36_000, 3_600))).contains("limit");
    assertThat(covers(ofLimit(Optional.empty()))).contains("limit");
    assertThat(new RateLimit(1_000_000, 1).covers(new RateLimit(1_000_000, 3_600))).isTrue();
    assertThat(new RateLimit(1_000_000, 3_600).covers(new RateLimit(1_000_000, 1))).isFalse();
  }

  @Test
  void anExpiryIsNoLater() {
    assertThat(covers(SOME.expiringAt(Optional.of(NOON.minusSeconds(1))))).isEmpty();
    assertThat(covers(SOME.expiringAt(Optional.of(NOON.plusNanos(1_000))))).contains("expires_at");
    assertThat(covers(SOME.expiringAt(Optional.empty()))).contains("expires_at");
  }

  @Test
  void aNetworkHasNoBitsBehindIt() {
    for (String sound :
        new String[] {"10.0.0.0/8", "10.0.0.7", "0.0.0.0/0", "::/0", "2001:db8::/33", "::1"}) {
      assertThat(AddressRange.parseNetwork(sound)).as(sound).isPresent();
    }
    for (String unsound :
        new String[] {
          "10.0.0.1/8",
          "10.0.0.0/33",
          "2001:db8::1/64",
          "::/129",
          "10.0.0/8",
          "010.0.0.0/8",
          "10.0.0.0/08",
          "10",
          "fe80::1%1",
          "",
          "/8",
          "localhost"
        }) {
      assertThat(AddressRange.parseNetwork(unsound)).as(unsound).isEmpty();
    }
  }

  /** A key that says nothing has sixteen. */
  @Test
  void noMoreLeasesAreGivenThanThereAre() {
    assertThat(covers(ofLeases(Optional.of(4)))).isEmpty();
    assertThat(covers(ofLeases(Optional.of(5)))).contains("lease_max");
    assertThat(covers(ofLeases(Optional.empty()))).contains("lease_max");
    assertThat(ALL.leasesMax()).isEqualTo(16);
    Rights unsaid = ofLeases(Optional.empty());
    assertThat(beyond(unsaid, ofLeases(Optional.of(16)))).isEmpty();
    assertThat(beyond(unsaid, ofLeases(Optional.of(17)))).contains("lease_max");
    assertThat(beyond(ALL, ofLeases(Optional.of(1_024)))).isEmpty();
  }

  /** Unless it may do everything. */
  @Test
  void whoHasTheDefaultLimitGivesNoHigherOne() {
    Optional<RateLimit> limit = Optional.of(new RateLimit(100, 1));
    Rights unsaid = ofLimit(Optional.empty());
    assertThat(unsaid.firstBeyond(unsaid, limit)).isEmpty();
    assertThat(unsaid.firstBeyond(ofLimit(100, 1), limit)).isEmpty();
    assertThat(unsaid.firstBeyond(ofLimit(101, 1), limit)).contains("limit");
    assertThat(unsaid.firstBeyond(ofLimit(1_000, 1), Optional.empty())).isEmpty();
    assertThat(ALL.firstBeyond(ofLimit(101, 1), limit)).isEmpty();
  }

  private static Rights ofLeases(Optional<Integer> leaseMax) {
    return new Rights(
        SOME.scopes(), SOME.types(), SOME.ranges(), SOME.limit(), leaseMax, SOME.expiresAt());
  }

  private static Optional<String> covers(Rights other) {
    return beyond(SOME, other);
  }

  private static Optional<String> beyond(Rights rights, Rights other) {
    return rights.firstBeyond(other, Optional.empty());
  }

  private static Rights with(Scope... scopes) {
    return new Rights(
        Set.of(scopes),
        SOME.types(),
        SOME.ranges(),
        SOME.limit(),
        SOME.leaseMax(),
        SOME.expiresAt());
  }

  private static Rights ofTypes(Optional<Set<String>> types) {
    return new Rights(
        SOME.scopes(), types, SOME.ranges(), SOME.limit(), SOME.leaseMax(), SOME.expiresAt());
  }

  private static Rights ofRanges(Optional<Set<AddressRange>> ranges) {
    return new Rights(
        SOME.scopes(), SOME.types(), ranges, SOME.limit(), SOME.leaseMax(), SOME.expiresAt());
  }

  private static Rights ofLimit(int requests, int seconds) {
    return ofLimit(Optional.of(new RateLimit(requests, seconds)));
  }

  private static Rights ofLimit(Optional<RateLimit> limit) {
    return new Rights(
        SOME.scopes(), SOME.types(), SOME.ranges(), limit, SOME.leaseMax(), SOME.expiresAt());
  }

  private static Optional<Set<AddressRange>> ranges(String... texts) {
    return Optional.of(
        Arrays.stream(texts)
            .map(text -> AddressRange.parseNetwork(text).orElseThrow())
            .collect(Collectors.toSet()));
  }
}

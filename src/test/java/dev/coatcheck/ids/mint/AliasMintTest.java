package dev.coatcheck.ids.mint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Namespace;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AliasMintTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  @Test
  void aKeyThatIsMappedGetsTheAliasAsWell() {
    Mapping mapped = FIXTURE.mint(FIXTURE.request(10)).getFirst().mapping();

    MintOutcome.Ticket named = FIXTURE.mint(request(10, "10")).getFirst();

    assertThat(named.created()).isFalse();
    assertThat(named.mapping()).isEqualTo(mapped);
    assertThat(FIXTURE.resolver.resolveAlias(FIXTURE.charge, alias("10")))
        .isEqualTo(new ResolveOutcome.Found(mapped));
  }

  @Test
  void anAliasOfAnotherKeyIsRefusedAndItsNeighboursAreNot() {
    FIXTURE.mint(request(20, "20"));

    MintOutcome outcome =
        FIXTURE.minter.mint(MintCall.batch(List.of(request(21, "20"), request(22, "22"))));

    assertThat(((MintOutcome.Minted) outcome).items().getFirst())
        .isEqualTo(new MintOutcome.AliasTaken(AliasScheme.LEGACY));
    assertThat(((MintOutcome.Minted) outcome).items())
        .hasAtLeastOneElementOfType(MintOutcome.Ticket.class);
    assertThat(FIXTURE.lookup.find(FIXTURE.charge, new Key.Bigint(21))).isEmpty();
    assertThat(FIXTURE.lookup.find(FIXTURE.charge, new Key.Bigint(22))).isPresent();
  }

  @Test
  void twoAliasesOfTwoThingsAreRefused() {
    FIXTURE.mint(request(30, "30"));
    MintRequest client = new MintRequest(FIXTURE.charge, Optional.empty(), List.of(client(30)));
    FIXTURE.mint(client);

    MintOutcome outcome =
        FIXTURE.minter.mint(
            MintCall.of(
                new MintRequest(
                    FIXTURE.charge, Optional.empty(), List.of(alias("30"), client(30)))));

    assertThat(((MintOutcome.Minted) outcome).items())
        .containsExactly(new MintOutcome.AliasTaken(AliasScheme.CLIENT));
  }

  @Test
  void anAtomicBatchWithARefusedItemWritesNothing() {
    FIXTURE.mint(request(40, "40"));

    MintOutcome outcome =
        FIXTURE.minter.mint(
            new MintCall(
                List.of(FIXTURE.request(41), request(42, "40"), legacy(43)),
                true,
                Optional.empty()));

    assertThat(outcome)
        .isEqualTo(
            new MintOutcome.NothingDone(
                List.of(
                    new MintOutcome.RefusedItem(
                        1, new MintOutcome.AliasTaken(AliasScheme.LEGACY)))));
    assertThat(FIXTURE.lookup.find(FIXTURE.charge, new Key.Bigint(41))).isEmpty();
    assertThat(FIXTURE.resolver.resolveAlias(FIXTURE.charge, alias("43")))
        .isInstanceOf(ResolveOutcome.Unknown.class);
  }

  @Test
  void oneAliasTwiceInABatchIsOneThing() {
    List<MintOutcome.Ticket> tickets = FIXTURE.mint(legacy(50), legacy(51), legacy(50));

    assertThat(tickets).extracting(MintOutcome.Ticket::created).containsExactly(true, true, false);
    assertThat(tickets.get(2).mapping()).isEqualTo(tickets.get(0).mapping());
  }

  @Test
  void racersWithOneLegacyIdAgree() throws Exception {
    List<Callable<List<MintOutcome.Ticket>>> racers =
        Collections.nCopies(
            100, () -> MappingFixture.minted(FIXTURE.untilNotBusy(MintCall.of(legacy(60)))));
    Set<Token> tokens = new HashSet<>();
    int created = 0;
    for (List<MintOutcome.Ticket> tickets : MinterTest.together(racers)) {
      tokens.add(tickets.getFirst().mapping().token());
      created += tickets.getFirst().created() ? 1 : 0;
    }

    assertThat(tokens).hasSize(1);
    assertThat(created).isEqualTo(1);
  }

  @Test
  void batchesOfAliasesInOppositeOrdersAgreeAndDoNotDeadlock() throws Exception {
    MinterTest.raceInOppositeOrders(
        FIXTURE, IntStream.range(1_000, 1_200).mapToObj(AliasMintTest::legacy).toList());
  }

  /** A cache would give the public ID of another thing. */
  @Test
  void aliasesThatDifferInOnePartAreNotEqual() {
    List<Alias> all =
        List.of(
            Alias.of(FIXTURE.charge, AliasScheme.LEGACY, "7"),
            Alias.of(FIXTURE.user, AliasScheme.LEGACY, "7"),
            Alias.of(FIXTURE.charge, AliasScheme.PUBLIC, "7"),
            Alias.of(FIXTURE.charge, AliasScheme.LEGACY, "8"),
            Alias.client(FIXTURE.charge, Namespace.SHARED, "01890a5d-ac96-774b-bcce-b302099a8057"),
            Alias.client(
                FIXTURE.charge,
                Namespace.ofPrincipal("app"),
                "01890a5d-ac96-774b-bcce-b302099a8057"));

    for (Alias one : all) {
      assertThat(all.stream().filter(one::equals)).hasSize(1);
      assertThat(all.stream().filter(other -> one.compareTo(other) == 0)).hasSize(1);
    }
    assertThat(Alias.of(FIXTURE.charge, AliasScheme.LEGACY, "7"))
        .isEqualTo(all.getFirst())
        .hasSameHashCodeAs(all.getFirst());
  }

  private static MintRequest legacy(int number) {
    return new MintRequest(
        FIXTURE.charge, Optional.empty(), List.of(alias(Integer.toString(number))));
  }

  private static MintRequest request(long key, String legacyId) {
    return new MintRequest(
        FIXTURE.charge, Optional.of(new Key.Bigint(key)), List.of(alias(legacyId)));
  }

  private static Alias alias(String legacyId) {
    return Alias.of(FIXTURE.charge, AliasScheme.LEGACY, legacyId);
  }

  private static Alias client(int number) {
    return Alias.client(
        FIXTURE.charge, Namespace.SHARED, "00000000-0000-4000-8000-%012x".formatted(number));
  }
}

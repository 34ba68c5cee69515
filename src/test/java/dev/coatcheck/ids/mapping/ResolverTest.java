package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ResolverTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  @Test
  void whatWasMintedResolvesFromTheDatabaseAndFromTheCache() {
    for (MintOutcome.Ticket ticket :
        FIXTURE.mint(FIXTURE.generated(FIXTURE.charge), FIXTURE.generated(FIXTURE.user))) {
      String text = ticket.mapping().publicId().toString();
      ResolveOutcome found = new ResolveOutcome.Found(ticket.mapping());

      assertThat(FIXTURE.resolve(text)).isEqualTo(found);
      assertThat(FIXTURE.resolve(text)).isEqualTo(found);
    }
  }

  @Test
  void aTokenUnderAnotherTypesPrefixIsUnknown() {
    var invoice = FIXTURE.type("invoice", "inv", KeyKind.BIGINT);
    Token token = FIXTURE.mint(FIXTURE.generated(FIXTURE.charge)).getFirst().mapping().token();
    String forged = new PublicId(invoice.prefix(), token).toString();

    assertThat(FIXTURE.resolve(forged)).isEqualTo(new ResolveOutcome.Unknown());
    // Also once the row is cached under its own prefix.
    FIXTURE.resolve(new PublicId(FIXTURE.charge.prefix(), token).toString());
    assertThat(FIXTURE.resolve(forged)).isEqualTo(new ResolveOutcome.Unknown());
  }

  /** Anyone can compute them, check characters and all, and have each cached as not there. */
  @Test
  void tokensOfOneHashAreFoundAsFastAsOthers() {
    Resolver resolver = FIXTURE.resolver(100_000);
    List<String> alike = texts(n -> new Token((n << 32) | n, (n << 32) | n));
    List<String> random = texts(_ -> MappingFixture.TOKENS.next(0));
    for (int from = 0; from < alike.size(); from += 1_000) {
      resolver.resolveAll(FIXTURE.read(alike.subList(from, from + 1_000)));
      resolver.resolveAll(FIXTURE.read(random.subList(from, from + 1_000)));
    }
    long nanosAlike = Long.MAX_VALUE;
    long nanosRandom = Long.MAX_VALUE;
    // Many rounds where the machine is busy: a walk along all of them is slow in each.
    for (int round = 0; round < 5 || (round < 100 && nanosAlike >= 20 * nanosRandom); round++) {
      nanosAlike = Math.min(nanosAlike, nanos(resolver, alike));
      nanosRandom = Math.min(nanosRandom, nanos(resolver, random));
    }

    assertThat(nanosAlike).isLessThan(20 * nanosRandom);
  }

  private static List<String> texts(LongFunction<Token> token) {
    return LongStream.range(1, 10_001)
        .mapToObj(n -> new PublicId(FIXTURE.charge.prefix(), token.apply(n)).toString())
        .toList();
  }

  private static long nanos(Resolver resolver, List<String> texts) {
    long begun = System.nanoTime();
    for (int i = 0; i < 1_000; i++) {
      assertThat(resolver.resolve(texts.get(i * 10), AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Unknown.class);
    }
    return System.nanoTime() - begun;
  }

  @Test
  void anAliasThatWasFoundIsAnsweredFromMemoryAndOneThatWasNotIsAskedForAgain() {
    Resolver resolver = FIXTURE.resolver;
    Alias alias = Alias.of(FIXTURE.charge, AliasScheme.LEGACY, "4711");
    assertThat(resolver.resolveAlias(FIXTURE.charge, alias))
        .isEqualTo(new ResolveOutcome.Unknown());

    MintRequest named = new MintRequest(FIXTURE.charge, Optional.empty(), List.of(alias));
    ResolveOutcome found = new ResolveOutcome.Found(FIXTURE.mint(named).getFirst().mapping());
    assertThat(resolver.resolveAlias(FIXTURE.charge, alias)).isEqualTo(found);
    assertThat(new NonBlockingAttempt<>(() -> resolver.resolveAlias(FIXTURE.charge, alias)).run())
        .isEqualTo(new NonBlockingAttempt.Outcome.Done<>(found));
    assertThat(resolver.resolveOlder(List.of(new OlderId.LegacyId(FIXTURE.charge, 4711))))
        .containsExactly(found);
  }

  @Test
  void manyResolveInTheirOrderBesideBadOnes() {
    List<MintOutcome.Ticket> minted =
        FIXTURE.mint(
            FIXTURE.generated(FIXTURE.charge),
            FIXTURE.generated(FIXTURE.user),
            FIXTURE.generated(FIXTURE.charge));
    List<String> texts =
        new ArrayList<>(minted.stream().map(t -> t.mapping().publicId().toString()).toList());
    texts.add(1, "ch_00000000000000000000002B");
    texts.add(3, "ch_x");
    texts.add(texts.getFirst());

    assertThat(FIXTURE.resolver.resolveAll(FIXTURE.read(texts)))
        .containsExactly(
            new ResolveOutcome.Found(minted.get(0).mapping()),
            new ResolveOutcome.Unknown(),
            new ResolveOutcome.Found(minted.get(1).mapping()),
            new ResolveOutcome.Malformed(ParsedId.Reason.LENGTH, 4),
            new ResolveOutcome.Found(minted.get(2).mapping()),
            new ResolveOutcome.Found(minted.get(0).mapping()));
  }

  @Test
  void malformedTextsAreRefusedWhileTheDatabaseIsGone() {
    MappingFixture gone = new MappingFixture();
    gone.close();

    for (String text : List.of("", "ch", "ch_", "ch_4KIWSf8WvPNoQDBwStVIDYHV", "CH_x", "x\0y")) {
      assertThat(gone.resolve(text)).isInstanceOf(ResolveOutcome.Malformed.class);
    }
  }

  @Test
  void lookupIsTheReverse() {
    MintOutcome.Ticket ticket = FIXTURE.mint(FIXTURE.request(77)).getFirst();
    Key absent = new Key.Bigint(78);

    assertThat(FIXTURE.lookup.findAll(FIXTURE.charge, List.of(absent, new Key.Bigint(77), absent)))
        .containsExactly(Optional.empty(), Optional.of(ticket.mapping()), Optional.empty());
  }

  @Test
  void pagesHoldEachMappingOnceNewestFirst() {
    var page = FIXTURE.type("page", "pg", KeyKind.UUID);
    List<Mapping> minted = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      minted.addFirst(FIXTURE.mint(FIXTURE.generated(page)).getFirst().mapping());
    }
    List<Mapping> seen = new ArrayList<>();
    Optional<Key> after = Optional.empty();
    Lookup.Page next;
    do {
      next =
          FIXTURE.lookup.page(
              page, Lookup.Filter.NONE, after.map(key -> new Lookup.Cursor(key, false)), 10);
      seen.addAll(next.mappings());
      after = Optional.of(seen.getLast().key());
    } while (next.hasMore());

    assertThat(seen).isEqualTo(minted);
  }

  @Test
  void postgresComputesTheSameBucketsAsTheGateway() {
    List<MintRequest> requests =
        LongStream.of(0, 1, 42, 514718408130953216L, Long.MAX_VALUE)
            .mapToObj(FIXTURE::request)
            .toList();
    FIXTURE.minter.mint(MintCall.batch(requests));
    FIXTURE.mint(
        FIXTURE.generated(FIXTURE.user),
        new MintRequest(
            FIXTURE.user,
            Optional.of(
                new Key.Uuid(java.util.UUID.fromString("ffffffff-ffff-7fff-bfff-ffffffffffff")))));

    for (String table : List.of("public_id", "public_id_uuid")) {
      List<Boolean> equal =
          FIXTURE.database.read(
              "buckets",
              sql ->
                  sql.fetch(
                          """
                          select p.bucket = coatcheck.bucket_of_key(t.salt, p.key)
                             and p.bucket = (get_byte(uuid_send(p.token), 14) & 3) * 256
                                          + get_byte(uuid_send(p.token), 15)
                          from coatcheck.%s p join coatcheck.type t using (type_id)
                          """
                              .formatted(table))
                      .getValues(0, Boolean.class));

      assertThat(equal).isNotEmpty().containsOnly(true);
    }
  }
}

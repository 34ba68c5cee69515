package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nobody learns from the work of a refusal why a sealed ID was refused. */
class EqualRefusalsTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  private static final Instant MOMENT = Instant.parse("2024-01-01T00:00:00Z");
  private static final Key.Bigint BEFORE = TestEras.key("2023-06-01T00:00:00Z", 1);
  private static final Key.Bigint IN_FIRST = TestEras.key("2024-06-01T00:00:00Z", 1);
  private static final Key.Bigint IN_SECOND = TestEras.key("2025-06-01T00:00:00Z", 1);

  private record Work(long blocks, long statements) {}

  @BeforeAll
  static void extension() {
    FIXTURE.on.sql().execute("create extension if not exists pg_stat_statements");
  }

  @Test
  void eachRefusalOfASealedTypeTakesAsManyBlocksAndNoStatement() {
    Type type = FIXTURE.sealed("sealed", "sld", Instant.EPOCH);
    type = TestEras.began(FIXTURE, type, "2025-01-01T00:00:00Z");
    Type foreign = FIXTURE.sealed("foreign", "frn", Instant.EPOCH);
    Map<String, Token> refused = refused(type, foreign);

    Map<String, Work> work = work(type, refused);

    assertThat(work.values()).containsOnly(new Work(2, 0)); // one block for each era
    assertThat(work).hasSize(refused.size());
  }

  @Test
  void eachRefusalOfATypeWithStoredIdsTakesAsManyBlocksAndStatements() {
    Type type = FIXTURE.sealed("mixed", "mxd", MOMENT);
    type = TestEras.began(FIXTURE, type, "2025-01-01T00:00:00Z");
    Type foreign = FIXTURE.sealed("stranger", "stn", Instant.EPOCH);
    Map<String, Token> refused = refused(type, foreign);
    refused.put("not sealed", TestEras.forged(type, TestSealKeys.FIRST, BEFORE));

    Map<String, Work> work = work(type, refused);

    assertThat(work.values().stream().distinct()).as("%s", work).hasSize(1);
    assertThat(work).hasSize(refused.size());
    assertThat(work.values())
        .allSatisfy(
            each -> {
              assertThat(each.statements()).isEqualTo(1);
              assertThat(each.blocks()).isPositive();
            });
  }

  private static Map<String, Token> refused(Type type, Type foreign) {
    Map<String, Token> refused = new LinkedHashMap<>();
    Token good = TestEras.forged(type, TestSealKeys.SECOND, IN_SECOND);
    refused.put("bad tag", new Token(good.high(), good.low() ^ 1));
    refused.put(
        "first era's key in the second", TestEras.forged(type, TestSealKeys.FIRST, IN_SECOND));
    refused.put(
        "second era's key in the first", TestEras.forged(type, TestSealKeys.SECOND, IN_FIRST));
    refused.put("of another seal key", TestEras.forged(type, TestSealKeys.THIRD, IN_FIRST));
    refused.put("unknown", new Token(5, 6));
    refused.put("foreign", TestEras.forged(foreign, TestSealKeys.FIRST, IN_FIRST));
    return refused;
  }

  /** What each refusal takes, with seal keys whose blocks are counted. */
  private static Map<String, Work> work(Type type, Map<String, Token> refused) {
    try (CountingAes aes = CountingAes.installed();
        MappingFixture.Behind behind = FIXTURE.behind(counted())) {
      Type there = behind.registry().named(type.name()).orElseThrow();
      Awaitility.await().until(() -> behind.rows().haveNone(TypedToken.of(there, new Token(1, 2))));
      Map<String, Work> work = new LinkedHashMap<>();
      refused.forEach(
          (why, token) -> {
            String id = new PublicId(type.prefix(), token).toString();
            long blocks = aes.blocks();
            long statements = FIXTURE.statementsOnIds();
            assertThat(behind.resolver().resolve(id, AllowedTypes.ALL))
                .as(why)
                .isEqualTo(new ResolveOutcome.Unknown());
            work.put(why, new Work(aes.blocks() - blocks, FIXTURE.statementsOnIds() - statements));
          });
      return work;
    }
  }

  private static SealKeys counted() {
    return ((SealKeys.Parsed.Valid) SealKeys.read(TestSealKeys.file())).keys();
  }
}

package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.OutOfStep;
import dev.coatcheck.postgres.sql.UnaskedRow;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pool of one connection, which is left out of step on purpose. */
class UnaskedRowTest {
  private static final MappingFixture FIXTURE = MappingFixture.withConnections(1);

  private long nextKey = System.nanoTime();

  @AfterAll
  static void close() {
    FIXTURE.close();
  }

  /** What the answer before it says. */
  enum Before {
    ANOTHER_ROW("key = %s"),
    NO_ROW("false and key = %s");

    private final String condition;

    Before(String condition) {
      this.condition = condition;
    }

    String question(String asked, Mapping other) {
      return "select key, created_at, token, type_id, status, %s from coatcheck.public_id where %s"
          .formatted(asked, condition.formatted(other.key().text()));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aResolveIsNeverAnothersAnswerNorNotFound(Before before) {
    Mapping mine = minted();
    String id = mine.publicId().toString();

    ResolveOutcome outcome =
        askedAgain(
            before.question("token as asked", minted()),
            () -> FIXTURE.mappings.resolver().resolve(id));

    assertThat(outcome).isEqualTo(new ResolveOutcome.Found(mine));
    assertThat(FIXTURE.mappings.resolver().resolve(id)).isEqualTo(outcome);
  }

  @ParameterizedTest
  @EnumSource
  void norAreManyAtOnce(Before before) {
    List<Mapping> mine = List.of(minted(), minted());

    List<ResolveOutcome> outcomes =
        askedAgain(
            before.question("token as asked", minted()),
            () ->
                FIXTURE
                    .mappings
                    .resolver()
                    .resolveAll(mine.stream().map(each -> each.publicId().toString()).toList()));

    assertThat(outcomes).isEqualTo(mine.stream().map(ResolveOutcome.Found::new).toList());
  }

  @ParameterizedTest
  @EnumSource
  void norIsALookUpByKey(Before before) {
    Mapping mine = minted();

    assertThat(
            askedAgain(
                before.question("1::bigint as ordinal", minted()),
                () -> FIXTURE.mappings.lookup().find(mine.type(), mine.key())))
        .contains(mine);
  }

  @ParameterizedTest
  @EnumSource
  void norIsAName(Before before) {
    Mapping mine = minted();
    Mapping other = minted();
    String name = Long.toString(nextKey++);
    String another = Long.toString(nextKey++);
    FIXTURE.mappings.aliases().add(mine.token(), Alias.of(mine.type(), AliasScheme.LEGACY, name));
    FIXTURE
        .mappings
        .aliases()
        .add(other.token(), Alias.of(mine.type(), AliasScheme.LEGACY, another));

    assertThat(
            askedAgain(
                "select 1::bigint as ordinal, type_id, scheme, namespace, value, token"
                    + " from coatcheck.alias where "
                    + (before == Before.NO_ROW ? "false" : "value = '" + another + "'"),
                () ->
                    FIXTURE
                        .mappings
                        .resolver()
                        .resolveAlias(
                            mine.type(), Alias.of(mine.type(), AliasScheme.LEGACY, name))))
        .isEqualTo(new ResolveOutcome.Found(mine));
  }

  @Test
  void aListIsOfTheTypeAndBelowTheKeyThatItWasAskedFor() {
    Mapping older = minted();
    Mapping newer = minted();

    Listing.Page page =
        askedAgain(
            "select key, created_at, token, type_id, status from coatcheck.public_id where key = "
                + newer.key().text(),
            () ->
                FIXTURE
                    .mappings
                    .listing()
                    .page(
                        newer.type(),
                        java.util.Optional.empty(),
                        java.util.Optional.of(newer.key()),
                        1));

    assertThat(page.mappings()).containsExactly(older);
  }

  @Test
  void aMintIsWrittenOnceThoughItsFirstAnswerWasNotItsOwn() {
    Mapping other = minted();
    long key = nextKey++;

    MintOutcome outcome =
        askedAgain(
            "select token, created_at from coatcheck.public_id where key = " + other.key().text(),
            () -> FIXTURE.minter.mint(MintCall.of(FIXTURE.request(key))));

    MintOutcome.Ticket ticket = MappingFixture.minted(outcome).getFirst();
    assertThat(ticket.mapping().key()).isEqualTo(new Key.Bigint(key));
    assertThat(FIXTURE.mappings.lookup().find(FIXTURE.charge, new Key.Bigint(key)))
        .contains(ticket.mapping());
  }

  @Test
  void twiceIsAnOutageAndNothingIsCached() {
    Mapping mine = minted();

    assertThatThrownBy(
            () ->
                FIXTURE.database.read(
                    "resolve",
                    sql -> {
                      UnaskedRow.unless(false, "as told");
                      return true;
                    }))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(FIXTURE.mappings.resolver().resolve(mine.publicId().toString()))
        .isEqualTo(new ResolveOutcome.Found(mine));
  }

  /** The answer, which took another connection and left a trace. */
  private static <T> T askedAgain(String before, Supplier<T> ask) {
    double mixups = mixups();
    int backend = backend();
    OutOfStep.leave(FIXTURE.database, before);
    T answer = ask.get();
    assertThat(mixups()).isGreaterThan(mixups);
    assertThat(backend()).isNotEqualTo(backend);
    return answer;
  }

  private static int backend() {
    return FIXTURE.database.read(
        "test", sql -> sql.fetchSingle("select pg_backend_pid()").get(0, Integer.class));
  }

  private static double mixups() {
    return FIXTURE
        .observer
        .scrape()
        .lines()
        .filter(line -> line.startsWith("coatcheck_database_mixups_total"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  private Mapping minted() {
    return FIXTURE.mint(FIXTURE.request(nextKey++)).getFirst().mapping();
  }
}

package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.OutOfStep;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool of one connection, which is left out of step on purpose. */
class ConnectionDesyncTest {
  @RegisterExtension static final MappingFixture FIXTURE = MappingFixture.withConnections(1);

  private long nextKey = System.nanoTime();

  /** What the answer before it says: another row, or none. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noQuestionGetsAnothersAnswerNorNotFound(boolean isARow) {
    Mapping mine = minted();
    Mapping second = minted();
    Mapping other = minted();
    String id = mine.publicId().toString();
    Alias alias = named(mine);
    Alias another = named(other);
    String rows =
        "select key, created_at, token, type_id, status, %s from coatcheck.public_id where key = "
            + (isARow ? other.key().text() : "-1");
    ResolveOutcome found = new ResolveOutcome.Found(mine);

    assertThat(
            askedAgain(
                rows.formatted("1::bigint as ordinal"),
                () -> FIXTURE.lookup.find(mine.type(), mine.key())))
        .contains(mine);
    assertThat(
            askedAgain(
                "select 1::bigint as ordinal, type_id, scheme, namespace, value, token,"
                    + " null::uuid as hash from coatcheck.alias where value = '%s' and %s"
                        .formatted(another.value(), isARow),
                () -> FIXTURE.resolver.resolveAlias(mine.type(), alias)))
        .isEqualTo(found);
    assertThat(
            askedAgain(
                rows.formatted("token as asked"),
                () ->
                    FIXTURE.resolver.resolveAll(
                        FIXTURE.read(List.of(second.publicId().toString(), id)))))
        .containsExactly(new ResolveOutcome.Found(second), found);
    FIXTURE.resolver.forget(mine.type(), mine.token());
    assertThat(
            askedAgain(
                rows.formatted("token as asked"),
                () -> FIXTURE.resolver.resolve(id, AllowedTypes.ALL)))
        .isEqualTo(found);
    assertThat(FIXTURE.resolver.resolve(id, AllowedTypes.ALL)).isEqualTo(found);
  }

  private Alias named(Mapping mapping) {
    Alias alias = Alias.of(mapping.type(), AliasScheme.LEGACY, Long.toString(nextKey++));
    FIXTURE.aliases.add(mapping.type(), mapping.publicId(), alias, Actor.operator());
    return alias;
  }

  @Test
  void aListIsOfTheTypeAndBelowTheKeyThatItWasAskedFor() {
    Mapping older = minted();
    Mapping newer = minted();

    Lookup.Page page =
        askedAgain(
            "select key, created_at, token, type_id, status from coatcheck.public_id where key = "
                + newer.key().text(),
            () ->
                FIXTURE.lookup.page(
                    newer.type(),
                    Lookup.Filter.NONE,
                    java.util.Optional.of(new Lookup.Cursor(newer.key(), false)),
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
    assertThat(FIXTURE.lookup.find(FIXTURE.charge, new Key.Bigint(key))).contains(ticket.mapping());
  }

  @Test
  void twiceIsAnOutageAndNothingIsCached() {
    Mapping mine = minted();

    assertThatThrownBy(
            () ->
                FIXTURE.database.read(
                    "resolve",
                    sql -> {
                      ConnectionDesync.unless(false, "as told");
                      return true;
                    }))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(FIXTURE.resolver.resolve(mine.publicId().toString(), AllowedTypes.ALL))
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

package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class SealedRowsTest {
  private static final Token NO_ROW = new Token(3, 4);

  /** Under traffic there is a question during each reading. */
  @Test
  void theRowsAreNotReadAgainBecauseTheyAreAskedForMeanwhile() throws Exception {
    try (MappingFixture fixture = new MappingFixture()) {
      fixture.on.sql().execute("create extension if not exists pg_stat_statements");
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      TypedToken id = TypedToken.of(type, NO_ROW);
      fixture.awaitNoRow(type, NO_ROW);
      long before;
      try (TestSession _ =
          fixture.on.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
        missChanges(fixture);
        awaitReading(fixture);
        before = readings(fixture);
        assertThat(fixture.sealedRows.haveNone(id)).isFalse();
      }
      fixture.awaitNoRow(type, NO_ROW);
      Thread.sleep(300); // three times the pause before a type that is new is read

      assertThat(readings(fixture) - before).isEqualTo(1);
    }
  }

  /** Until one waits for the lock of the table. */
  private static void awaitReading(MappingFixture fixture) {
    Awaitility.await()
        .until(
            () ->
                fixture
                    .on
                    .sql()
                    .number(
                        "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                            + " and datname = current_database()"
                            + " and query like '%coatcheck.public_id%'"),
            waiting -> waiting > 0);
  }

  private static void missChanges(MappingFixture fixture) {
    fixture
        .on
        .sql()
        .execute(
            "delete from coatcheck.change",
            "update coatcheck.change_head set number = number + 10");
  }

  private static long readings(MappingFixture fixture) {
    return fixture
        .on
        .sql()
        .number(
            "select coalesce(sum(calls), 0) from pg_stat_statements where query like"
                + " '%coatcheck.public_id %order by type_id, key limit%'"
                + " and dbid = (select oid from pg_database where datname = current_database())");
  }

  /** The lock keeps the rows from being read, so what is believed meanwhile is seen. */
  @Test
  void afterAMissedChangeNothingIsBelievedUntilAllRowsAreReadAgain() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      TypedToken id = TypedToken.of(type, NO_ROW);
      fixture.awaitNoRow(type, NO_ROW);

      try (TestSession _ =
          fixture.on.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
        missChanges(fixture);

        Awaitility.await().until(() -> !fixture.sealedRows.haveNone(id));
        assertThat(fixture.feed.isTrusted()).isTrue();
        assertThat(fixture.sealedRows.haveNone(id)).isFalse();
      }
      fixture.awaitNoRow(type, NO_ROW);
    }
  }

  /** Pins and survivors of merges have rows that say what their seal key says. */
  @Test
  void rowsOfActiveIdsAreNoneToAskFor() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      Mapping ended = fixture.minted(type);
      Mapping survivor = fixture.minted(type);
      fixture.end(
          new Endings.Request.Merge(ended.publicId().toString(), survivor.publicId().toString()));

      try (MappingFixture restarted = fixture.beside()) {
        restarted.awaitNoRow(type, NO_ROW);
        assertThat(restarted.sealedRows.haveNone(TypedToken.of(type, survivor.token()))).isTrue();
        assertThat(restarted.sealedRows.haveNone(TypedToken.of(type, ended.token()))).isFalse();
      }
    }
  }

  @Test
  void endingsOfMadeUpIdsDoNotFillTheFilter() throws Exception {
    try (MappingFixture fixture = new MappingFixture()) {
      fixture.on.sql().execute("create extension if not exists pg_stat_statements");
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      fixture.awaitNoRow(type, NO_ROW);
      long before = readings(fixture);

      List<Token> madeUp = tokens(11_000);
      for (int i = 0; i < madeUp.size(); i += Endings.REQUESTS_MAX) {
        List<Endings.Request> revocations = new ArrayList<>();
        for (Token token : madeUp.subList(i, i + Endings.REQUESTS_MAX)) {
          String text = new PublicId(type.prefix(), token).toString();
          revocations.add(new Endings.Request.Revoke(text, Optional.empty()));
        }
        assertThat(fixture.end(revocations, Endings.Mode.EACH, Actor.operator()))
            .isInstanceOf(Endings.Result.Settled.class);
      }
      Thread.sleep(300); // a reading would have begun at once

      assertThat(readings(fixture)).isEqualTo(before);
    }
  }

  /** The lock keeps the rows from being read, so what is believed meanwhile is seen. */
  @Test
  void whatIsKnownIsBelievedWhileAFullFilterIsReadAgain() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      TypedToken id = TypedToken.of(type, NO_ROW);
      fixture.awaitNoRow(type, NO_ROW);
      List<Token> many = tokens(11_000);
      Token ended = new Token(5, 6);

      try (TestSession _ =
          fixture.on.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
        many.forEach(fixture.sealedRows::add);
        awaitReading(fixture);

        assertThat(fixture.sealedRows.haveNone(id)).isTrue();
        fixture.sealedRows.add(ended);
        assertThat(fixture.sealedRows.haveNone(TypedToken.of(type, ended))).isFalse();
      }

      fixture.awaitNoRow(type, many.getFirst());
      assertThat(fixture.sealedRows.haveNone(TypedToken.of(type, ended))).isFalse();
    }
  }

  private static List<Token> tokens(int count) {
    Random random = new Random(5);
    return Stream.generate(() -> new Token(random.nextLong(), random.nextLong()))
        .limit(count)
        .toList();
  }
}

package dev.coatcheck.ids.mint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.postgres.group.GroupCommit;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.OutOfStep;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Promise 7: a group that brings no names is committed by its statement, and is never sent twice.
 */
class SingleInsertTest {
  private static final int LOCK_MILLIS = 25;

  @Test
  void aKeyThatIsTakenConcernsItsOwnCallOnly() {
    Deque<Long> drawn = new ArrayDeque<>(List.of(1L, 1L, 2L));
    try (MappingFixture fixture = new MappingFixture()) {
      Minter minter = minter(fixture, drawn);
      MintCall call = MintCall.of(fixture.generated(fixture.charge));
      minter.commit(List.of(call), LOCK_MILLIS);

      List<GroupCommit.Attempt<MintOutcome>> attempts =
          minter.commit(List.of(call, call), LOCK_MILLIS);

      assertThat(attempts.getFirst()).isInstanceOf(GroupCommit.Attempt.Held.class);
      assertThat(attempts.getLast()).isInstanceOf(GroupCommit.Attempt.Done.class);
      assertThat(fixture.observer.scrape()).contains("coatcheck_keys_conflicts_total");
      assertThat(mappings(fixture)).isEqualTo(2);
    }
  }

  /** Not even the rows whose keys were free stay behind. */
  @Test
  void aKeyThatIsTakenUndoesItsBatchWhichIsMintedWithOtherKeys() {
    for (boolean atomic : new boolean[] {false, true}) {
      Deque<Long> drawn = new ArrayDeque<>(List.of(1L, 2L, 1L, 3L, 4L));
      try (MappingFixture fixture = new MappingFixture()) {
        Minter minter = minter(fixture, drawn);
        MintRequest request = fixture.generated(fixture.charge);
        minter.mint(MintCall.of(request));

        List<MintOutcome.Ticket> minted =
            MappingFixture.minted(
                minter.mint(new MintCall(List.of(request, request), atomic, Optional.empty())));

        assertThat(minted)
            .extracting(ticket -> ticket.mapping().key())
            .containsExactly(new Key.Bigint(3), new Key.Bigint(4));
        assertThat(mappings(fixture)).isEqualTo(3);
        assertThat(fixture.observer.scrape()).contains("coatcheck_keys_conflicts_total");
      }
    }
  }

  @Test
  void anAnswerThatIsNotItsOwnLeavesTheOutcomeUnknown() {
    try (MappingFixture fixture = MappingFixture.withConnections(1)) {
      fixture.minter.mint(MintCall.of(fixture.generated(fixture.charge)));
      OutOfStep.leave(
          fixture.database, "select token, created_at from coatcheck.public_id limit 1");

      assertThatThrownBy(() -> fixture.minter.mint(MintCall.of(fixture.generated(fixture.charge))))
          .isInstanceOf(DatabaseUnavailable.class);

      assertThat(mappings(fixture)).isLessThanOrEqualTo(2);
      fixture.minter.mint(MintCall.of(fixture.generated(fixture.charge)));
      assertThat(mappings(fixture)).isLessThanOrEqualTo(3);
    }
  }

  private static Minter minter(MappingFixture fixture, Deque<Long> drawn) {
    return new Minter(
        new MintStore(fixture.database, fixture.observer),
        fixture.registry::current,
        _ ->
            count ->
                new KeyOutcome.Drawn(
                    IntStream.range(0, count)
                        .<Key>mapToObj(_ -> new Key.Bigint(drawn.pop()))
                        .toList()),
        MappingFixture.TOKENS::next,
        fixture.sealedRows,
        fixture.observer,
        4);
  }

  private static int mappings(MappingFixture fixture) {
    return fixture.database.read(
        "test",
        sql -> sql.fetchSingle("select count(*)::int from coatcheck.public_id").get(0, int.class));
  }
}

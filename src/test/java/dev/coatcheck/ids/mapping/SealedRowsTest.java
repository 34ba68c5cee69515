package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Instant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class SealedRowsTest {
  private static final Token NO_ROW = new Token(3, 4);

  /** The lock keeps the rows from being read, so what is believed meanwhile is seen. */
  @Test
  void afterAMissedChangeNothingIsBelievedUntilAllRowsAreReadAgain() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      TypedToken id = TypedToken.of(type, NO_ROW);
      Awaitility.await().until(() -> fixture.sealedRows.haveNone(id));

      try (TestSession _ =
          fixture.on.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
        fixture
            .on
            .sql()
            .execute(
                "delete from coatcheck.change",
                "update coatcheck.change_head set number = number + 10");

        Awaitility.await().until(() -> !fixture.sealedRows.haveNone(id));
        assertThat(fixture.feed.isTrusted()).isTrue();
        assertThat(fixture.sealedRows.haveNone(id)).isFalse();
      }
      Awaitility.await().until(() -> fixture.sealedRows.haveNone(id));
    }
  }
}

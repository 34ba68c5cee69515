package dev.coatcheck.bulk.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.sql.StatementTimeout;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.OutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Exports from distributed tables: no page is waited for without a bound. */
@Timeout(60)
class ExportStoreTest {
  private static final int PAGE_MILLIS_MAX = 100;

  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  @Test
  void aPageThatIsStuckEndsTheExportAtTheServer() {
    try (TestSession _ =
        FIXTURE.on.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
      assertThatThrownBy(() -> export(FIXTURE.on, OutputStream.nullOutputStream()))
          .isInstanceOf(StatementTimeout.class);
      assertThat(
              FIXTURE
                  .on
                  .sql()
                  .number(
                      "select count(*) from pg_stat_activity where state = 'active'"
                          + " and application_name = 'coatcheck export'"
                          + " and datname = current_database()"))
          .isZero();
    }
  }

  /** More than two pages, of which the first one is passed on. */
  @Test
  @Tag("faults") // ten seconds: what a network may be silent beyond the bound of a statement
  void aNetworkThatFallsSilentCutsTheExportOff() throws Exception {
    FIXTURE
        .on
        .sql()
        .execute(
            "insert into coatcheck.public_id (key, token, type_id, bucket)"
                + " select n, gen_random_uuid(), %d, 0 from generate_series(1, 5000) n"
                    .formatted(FIXTURE.charge.number()));
    try (FaultProxy proxy = new FaultProxy(FIXTURE.on.port())) {
      OutputStream target =
          new OutputStream() {
            @Override
            public void write(int one) {
              proxy.freeze(true);
            }
          };

      assertThat(export(FIXTURE.on.behind(proxy.port()), target))
          .isEqualTo(ExportOutcome.DATABASE_GONE);
    }
  }

  private static ExportOutcome export(TestDatabase from, OutputStream target) {
    Type type = FIXTURE.charge;
    return new ExportStore(
            from.settings(1).over(Shards.of(new long[Shards.BUCKETS])),
            FIXTURE.observer,
            20 * PAGE_MILLIS_MAX)
        .read(type, false, new ExportWriter(type, RowFormat.CSV, false, target), _ -> {});
  }
}

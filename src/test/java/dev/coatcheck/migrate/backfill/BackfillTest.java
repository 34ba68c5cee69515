package dev.coatcheck.migrate.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Phase;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackfillTest {
  private MigrationFixture fixture = MigrationFixture.beside();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyRowGetsAKeyInOrderAndItsMapping(boolean beside) {
    if (!beside) {
      fixture.close();
      fixture = MigrationFixture.apart();
    }
    fixture.execute(
        "create table orders (id bigserial primary key, created_at timestamptz, text text)",
        "insert into orders (created_at, text) select now() - make_interval(secs => 20000 - n), 'x'"
            + " from generate_series(1, 3000) n");
    Target target = fixture.target(MigrationFixture.createdAt());

    fixture.apply(target, Phase.EXPAND);
    fixture.execute("insert into orders (created_at, text) values (now(), 'new')");
    fixture.apply(target, Phase.BACKFILL, Phase.INDEX, Phase.NOT_NULL);
    fixture.drain(target);

    assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isZero();
    assertThat(
            fixture.count(
                "select count(*) from (select snowflake_id <= lag(snowflake_id) over (order by id)"
                    + " as wrong from orders) as o where wrong"))
        .isZero();
    assertThat(mapped()).isEqualTo(3_001);
    List<Long> keys = fixture.column("select snowflake_id from orders order by id");

    fixture.undo(target, Phase.NOT_NULL, Phase.INDEX, Phase.BACKFILL, Phase.EXPAND);
    assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coatcheck%'"))
        .isZero();
    Target again = fixture.target(MigrationFixture.createdAt());
    fixture.apply(again, EnumSet.range(Phase.EXPAND, Phase.SWITCH).toArray(Phase[]::new));
    fixture.drain(again);

    assertThat(fixture.column("select snowflake_id from orders order by id")).isEqualTo(keys);
    assertThat(mapped()).isEqualTo(3_001);
  }

  private long mapped() {
    return fixture.gateway.database.read(
        "test",
        sql ->
            sql.fetchOne(
                    "select count(*) from coatcheck.alias join coatcheck.public_id using (token)")
                .get(0, Long.class));
  }
}

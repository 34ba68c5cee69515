package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A table, its columns and its schema are called something else in the middle of a run. */
class RenameTest {
  private static final List<String> RENAMES =
      List.of(
          "alter table orders rename column id to number",
          "alter table orders rename column created_at to made_at",
          "alter table orders rename to purchases",
          "alter table purchases set schema sales");

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void aRunGoesOnAndBackAndASecondOneGivesTheSameKeys() {
    fixture.orders(3_000);
    fixture.execute("create schema sales");
    TableMigration run = fixture.startInTheMiddle(500);

    RENAMES.forEach(fixture::execute);
    fixture.execute("insert into sales.purchases (made_at) values (now())");
    fixture.await(() -> fixture.now(run).target().table().text().equals("sales.purchases"));
    fixture.execute("insert into sales.purchases (made_at) values (now())");
    assertThat(fixture.now(run).target().keyColumn()).isEqualTo("number");
    assertThat(fixture.saw(run, "renamed", "sales.purchases now, and its key number")).isTrue();
    fixture.rate(run, 0);
    fixture.await(run, RunState.DONE);

    List<Long> keys = keys();
    assertThat(keys).hasSize(3_002).doesNotHaveDuplicates().isSorted();
    fixture.undo(run, Phase.EXPAND);
    assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coatcheck%'"))
        .isZero();

    TableMigration second = fixture.plan("sales", "purchases", Optional.of("made_at"));
    fixture.run(second);
    assertThat(keys()).isEqualTo(keys);
  }

  private List<Long> keys() {
    return fixture.column("select snowflake_id from sales.purchases order by number");
  }
}

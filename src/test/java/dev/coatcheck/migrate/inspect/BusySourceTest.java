package dev.coatcheck.migrate.inspect;

import static dev.coatcheck.migrate.inspect.SourceFixture.refusals;
import static dev.coatcheck.migrate.inspect.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes on in a source, or how it is set up, keeps a table from being migrated. */
class BusySourceTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();
  private static final Inventory.Limits USUAL = Inventory.Limits.USUAL;
  private static final String T = "create table t (id bigserial primary key)";

  @BeforeEach
  void clear() {
    FIXTURE.clear();
  }

  @Test
  void aTableOfAnotherRole() {
    FIXTURE.execute(T);
    List<String> before = FIXTURE.catalog();
    Source plain = FIXTURE.asPlain();

    assertThat(refusals(new Inventory(System::nanoTime).inspect(plain, wish("t"))))
        .containsExactly("not_owner", "no_select");
    FIXTURE.execute("grant select on t to " + FIXTURE.plain());
    assertThat(refusals(new Inventory(System::nanoTime).inspect(plain, wish("t"))))
        .containsExactly("not_owner");
    FIXTURE.execute("revoke select on t from " + FIXTURE.plain());
    assertThat(FIXTURE.catalog()).hasSameSizeAs(before);
  }

  @Test
  void anOwnerWhoMayNotMakeWhatIsNeeded() {
    String plain = FIXTURE.plain();
    FIXTURE.execute(T, "alter table t owner to " + plain);
    Source source = FIXTURE.asPlain();
    assertThat(new Inventory(System::nanoTime).inspect(source, wish("t")))
        .isInstanceOf(Inspection.Sound.class);

    FIXTURE.execute(
        "revoke create on schema public from " + plain,
        "revoke create on database " + FIXTURE.name() + " from " + plain);
    List<String> before = FIXTURE.catalog();
    try {
      assertThat(refusals(new Inventory(System::nanoTime).inspect(source, wish("t"))))
          .containsExactly("no_create_on_schema", "no_create_on_database");
      assertThat(FIXTURE.catalog()).isEqualTo(before);
    } finally {
      FIXTURE.execute("grant create on database " + FIXTURE.name() + " to " + plain);
    }
  }

  @Test
  void childrenOfOtherRolesAndChildrenWhoseOwnersAreBoundByRowSecurity() {
    FIXTURE.execute(
        T, "alter table t owner to " + FIXTURE.plain(), "create table c (t bigint references t)");
    Source source = FIXTURE.asPlain();
    assertThat(refusals(new Inventory(System::nanoTime).inspect(source, wish("t"))))
        .containsExactly("child_not_owned");

    FIXTURE.execute(
        "alter table c owner to " + FIXTURE.plain(),
        "alter table c enable row level security",
        "alter table c force row level security");

    assertThat(refusals(new Inventory(System::nanoTime).inspect(source, wish("t"))))
        .containsExactly("child_forced_row_security");
  }

  @Test
  void rowSecurityThatBindsTheOwnerToo() {
    FIXTURE.execute(
        T,
        "insert into t default values",
        "alter table t owner to " + FIXTURE.plain(),
        "alter table t enable row level security");
    Source source = FIXTURE.asPlain();
    assertThat(new Inventory(System::nanoTime).inspect(source, wish("t")))
        .isInstanceOfSatisfying(
            Inspection.Sound.class, sound -> assertThat(sound.shape().size().rows()).isOne());

    FIXTURE.execute("alter table t force row level security");

    List<String> before = FIXTURE.catalog();
    assertThat(refusals(new Inventory(System::nanoTime).inspect(source, wish("t"))))
        .containsExactly("forced_row_security");
    assertThat(FIXTURE.catalog()).isEqualTo(before);
  }

  /** Statements of ours would find what others made there. */
  @ParameterizedTest
  @ValueSource(strings = {"currentSchema=public", "options=-c%20search_path=public"})
  void aUrlWithASearchPathOfItsOwn(String parameter) {
    FIXTURE.execute(T);

    assertThat(
            refusals(new Inventory(System::nanoTime).inspect(FIXTURE.with(parameter), wish("t"))))
        .containsExactly("pooled_connection");
  }

  @Test
  void anOldTransactionIsInTheWay() {
    FIXTURE.execute(T);
    Inventory strict =
        new Inventory(
            new Inventory.Limits(USUAL.exactRowsMax(), USUAL.exactBytesMax(), 0, 1 << 30),
            System::nanoTime);
    try (TestSession idle = FIXTURE.sql().session()) {
      idle.begin("select 1");

      assertThat(refusals(strict.inspect(FIXTURE.source, wish("t"))))
          .containsExactly("old_transaction");
      assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(Inspection.Sound.class);
    }
  }

  @Test
  void aPreparedTransactionIsInTheWay() {
    FIXTURE.execute(T, "begin", "insert into t default values", "prepare transaction 'odd''one'");
    try {
      assertThat(refusals(FIXTURE.inspect(wish("t")))).containsExactly("prepared_transaction");
    } finally {
      FIXTURE.execute("rollback prepared 'odd''one'");
    }
  }

  @Test
  void aVacuumAgainstWraparoundIsInTheWay() {
    FIXTURE.execute(T);
    Inventory anyAge =
        new Inventory(
            new Inventory.Limits(USUAL.exactRowsMax(), USUAL.exactBytesMax(), 3_600, -1),
            System::nanoTime);
    assertThat(anyAge.inspect(FIXTURE.source, wish("t"))).isInstanceOf(Inspection.Sound.class);
    try (TestSession vacuum = FIXTURE.sql().session()) {
      vacuum.begin("lock table t in share update exclusive mode");

      assertThat(refusals(anyAge.inspect(FIXTURE.source, wish("t"))))
          .containsExactly("wraparound_vacuum");
      assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(Inspection.Sound.class);
    }
  }

  @Test
  void aServerThatMayLoseCommits() {
    FIXTURE.execute(T, "alter database " + FIXTURE.name() + " set synchronous_commit = off");
    try {
      Source again = FIXTURE.asPlain();
      assertThat(refusals(new Inventory(System::nanoTime).inspect(again, wish("t"))))
          .contains("server_loses_commits");
    } finally {
      FIXTURE.execute("alter database " + FIXTURE.name() + " reset synchronous_commit");
    }
  }

  @Test
  void aTableThatIsBeingMigrated() {
    try (MigrationFixture rekey = MigrationFixture.apart()) {
      rekey.execute("create table orders (id bigserial primary key)");
      rekey.apply(rekey.target(Optional.empty()), Phase.EXPAND);
      Source source = new Source("shop", rekey.settings, rekey.source, false);

      assertThat(refusals(new Inventory(System::nanoTime).inspect(source, wish("orders"))))
          .containsExactlyInAnyOrder("column_taken", "triggers_left", "run_active");
    }
  }
}

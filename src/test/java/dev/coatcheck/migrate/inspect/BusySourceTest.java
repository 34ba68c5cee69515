package dev.coatcheck.migrate.inspect;

import static dev.coatcheck.migrate.inspect.SourceFixture.refusals;
import static dev.coatcheck.migrate.inspect.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.postgres.sql.TestSession;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes on in a source, or how it is set up, keeps a table from being migrated. */
class BusySourceTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();
  private static final Inventory USUAL = new Inventory(System::nanoTime);
  private static final String T = "create table t (id bigserial primary key)";

  @BeforeEach
  void clear() {
    FIXTURE.clear();
  }

  @Test
  void aTableOfAnotherRole() {
    FIXTURE.execute(T);
    Source plain = FIXTURE.asPlain();

    assertRefused(plain, "not_owner", "no_select");
    FIXTURE.execute("grant select on t to " + FIXTURE.plain());
    assertRefused(plain, "not_owner");
  }

  @Test
  void anOwnerWhoMayNotMakeWhatIsNeeded() {
    String plain = FIXTURE.plain();
    FIXTURE.execute(T, "alter table t owner to " + plain);
    Source source = FIXTURE.asPlain();
    assertThat(USUAL.inspect(source, wish("t"))).isInstanceOf(Inspection.Sound.class);

    FIXTURE.execute(
        "revoke create on schema public from " + plain,
        "revoke create on database " + FIXTURE.name() + " from " + plain);
    try {
      assertRefused(source, "no_create_on_schema", "no_create_on_database");
    } finally {
      FIXTURE.execute("grant create on database " + FIXTURE.name() + " to " + plain);
    }
  }

  @Test
  void childrenOfOtherRolesAndChildrenWhoseOwnersAreBoundByRowSecurity() {
    FIXTURE.execute(
        T, "alter table t owner to " + FIXTURE.plain(), "create table c (t bigint references t)");
    Source source = FIXTURE.asPlain();
    assertRefused(source, "child_not_owned");

    FIXTURE.execute(
        "alter table c owner to " + FIXTURE.plain(),
        "alter table c enable row level security",
        "alter table c force row level security");
    assertRefused(source, "child_forced_row_security");
  }

  @Test
  void rowSecurityThatBindsTheOwnerToo() {
    FIXTURE.execute(
        T,
        "insert into t default values",
        "alter table t owner to " + FIXTURE.plain(),
        "alter table t enable row level security");
    Source source = FIXTURE.asPlain();
    assertThat(USUAL.inspect(source, wish("t")))
        .isInstanceOfSatisfying(
            Inspection.Sound.class, sound -> assertThat(sound.shape().size().rows()).isOne());

    FIXTURE.execute("alter table t force row level security");
    assertRefused(source, "forced_row_security");
  }

  @Test
  void anInspectionNeedsNoTransactionThatWrites() {
    FIXTURE.execute(
        T,
        "alter table t owner to " + FIXTURE.plain(),
        "alter role " + FIXTURE.plain() + " set default_transaction_read_only = on");
    try {
      assertThat(USUAL.inspect(FIXTURE.asPlain(), wish("t"))).isInstanceOf(Inspection.Sound.class);
    } finally {
      FIXTURE.execute("alter role " + FIXTURE.plain() + " reset default_transaction_read_only");
    }
  }

  /** Statements of ours would find what others made there. */
  @ParameterizedTest
  @ValueSource(strings = {"currentSchema=public", "options=-c%20search_path=public"})
  void aUrlWithASearchPathOfItsOwn(String parameter) {
    FIXTURE.execute(T);
    assertRefused(FIXTURE.with(parameter), "pooled_connection");
  }

  @Test
  void anOldTransactionIsInTheWay() {
    FIXTURE.execute(T);
    Inventory strict =
        new Inventory(new Inventory.Limits(1_000, 1 << 20, 0, 1 << 30), System::nanoTime);
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
        new Inventory(new Inventory.Limits(1_000, 1 << 20, 3_600, -1), System::nanoTime);
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
      assertThat(refusals(USUAL.inspect(FIXTURE.asPlain(), wish("t"))))
          .contains("server_loses_commits");
    } finally {
      FIXTURE.execute("alter database " + FIXTURE.name() + " reset synchronous_commit");
    }
  }

  private static void assertRefused(Source source, String... codes) {
    assertThat(refusals(USUAL.inspect(source, wish("t")))).containsExactly(codes);
  }
}

package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a start learns from updating a few rows in a transaction that is rolled back. */
class TrialTest {
  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.apart();

  @BeforeEach
  void aTable() {
    fixture.execute(
        """
        drop table if exists public.orders;
        drop sequence if exists public.tried;
        create sequence public.tried;
        create table public.orders (id bigint primary key, created_at timestamptz not null);
        insert into public.orders select n, now() from generate_series(1, 9) n\
        """);
  }

  @Test
  void aTableThatTakesARowOrIsEmptyIsNoReasonAgainstARunAndKeepsNoTrace() {
    assertThat(trial()).isEmpty();
    fixture.execute("truncate public.orders");
    assertThat(trial()).isEmpty();
    assertThat(
            fixture.count(
                "select count(*) from pg_attribute where attrelid = 'public.orders'::regclass"
                    + " and attnum > 0"))
        .isEqualTo(2);
    assertThat(fixture.count("select count(*) from pg_trigger where not tgisinternal")).isZero();
  }

  @Test
  void oneRowThatTheTableTakesIsEnough() {
    onUpdate("if old.id <> 9 then raise 'too old'; end if;");
    assertThat(trial()).isEmpty();
    onUpdate("if old.id <> 1 then raise 'too new'; end if;");
    assertThat(trial()).isEmpty();
    onUpdate("if old.id in (1, 9) then raise 'not in the middle'; end if;");
    assertThat(trial()).isEmpty();
  }

  @Test
  void aTableThatRefusesEveryRowIsNamedInTheWordsOfPostgres() {
    onUpdate("raise 'closed' using detail = 'of no interest';");
    assertThat(trial()).contains("ERROR: closed.");
  }

  /** The table is locked meanwhile, so the time-outs of three rows must not add up. */
  @Test
  void aRowThatTakesTooLongIsTheOnlyRowThatIsTried() {
    onUpdate("perform pg_sleep(60);");
    assertThat(trial()).contains("a statement took over 2000 ms.");
    assertThat(fixture.count("select last_value from public.tried")).isEqualTo(1);
  }

  @Test
  void anArchiveThatTakesLongToReadIsNoReason() {
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    fixture.undo(target, Phase.EXPAND);
    TargetSql names = new TargetSql(target);
    fixture.execute(
        names.fill("alter table <archive> rename to slow"),
        names.fill("create view <archive> as select a.* from <schema>.slow a, pg_sleep(3)"));
    try {
      assertThat(trial()).isEmpty();
    } finally {
      fixture.clear();
    }
  }

  /** That another try would end otherwise is not to be expected. */
  @Test
  void aUserWhoseTransactionsOnlyReadIsAReason() {
    readOnly("set default_transaction_read_only = on");
    try {
      assertThat(trial()).get().asString().contains("in a read-only transaction");
    } finally {
      readOnly("reset default_transaction_read_only");
    }
  }

  private static void readOnly(String setting) {
    fixture.execute(
        "set default_transaction_read_only = off",
        "do $$ begin execute format('alter database %%I %s', current_database()); end $$"
            .formatted(setting));
  }

  private static Optional<String> trial() {
    Target target = fixture.target(MigrationFixture.createdAt());
    return TrialTable.of(fixture.settings, target);
  }

  private static void onUpdate(String statements) {
    fixture.execute(
        """
        create or replace function public.on_update() returns trigger language plpgsql as $$
        begin
          perform nextval('public.tried');
          %s
          return new;
        end $$;
        create or replace trigger on_update before update on public.orders
          for each row execute function public.on_update()\
        """
            .formatted(statements));
  }
}

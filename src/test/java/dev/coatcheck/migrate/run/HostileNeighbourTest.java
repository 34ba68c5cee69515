package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.table.Phase;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A role that may create objects in {@code public} gets nothing run as our role. */
@Tag("faults")
class HostileNeighbourTest {
  /** All that a statement of ours might name without a schema. */
  private static final String ARGUMENTS =
      "'int2'::regtype, 'int4', 'int8', 'oid', 'text', 'name', 'bool', 'numeric', 'float8',"
          + " 'timestamptz', 'timestamp', 'date', 'interval', 'uuid', 'regclass', '\"char\"',"
          + " 'int2vector', 'aclitem'";

  /** Twins of Postgres's own operators and functions, and what fits better than those. */
  private static final String PLANT =
      """
      do $plant$
      declare
        of regtype[] := array[<arguments>];
        f record;
        n int := 0;
      begin
        for f in
          select o.oprname as name, o.oprleft::regtype as l, o.oprright::regtype as r,
                 o.oprresult::regtype as result,
                 '$1 operator(pg_catalog.' || o.oprname || ') $2' as body
            from pg_operator o
           where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
             and o.oprleft = any(of) and o.oprright = any(of) and o.oprcode <> 0
          union all
          select v.name, v.l, v.r, 'int8',
                 '$1::int8 operator(pg_catalog.' || v.name || ') $2::int8'
            from (values ('&', 'int8'::regtype, 'int4'::regtype), ('|', 'int8', 'int4'),
                         ('%', 'int8', 'int4'), ('#', 'int8', 'int4'), ('&', 'int4', 'int8'),
                         ('|', 'int4', 'int8')) as v (name, l, r)
        loop
          n := n + 1;
          execute format(
            'create function public.op_%s(%s, %s) returns %s language plpgsql as %L',
            n, f.l, f.r, f.result,
            format('begin perform public.mark(%L); return %s; end',
                   f.l || ' ' || f.name || ' ' || f.r, f.body));
          execute format(
            'create operator public.%s (function = public.op_%s, leftarg = %s, rightarg = %s)',
            f.name, n, f.l, f.r);
        end loop;
        for f in
          select p.proname as name, p.oid::regprocedure::text as signature,
                 oidvectortypes(p.proargtypes) as args, p.prorettype::regtype as result,
                 (select string_agg('$' || i, ', ') from generate_series(1, p.pronargs) i) as given
            from pg_proc p
           where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f'
             and not p.proretset and p.pronargs > 0 and p.provariadic = 0
             and p.proargtypes::oid[] <@ (of::oid[] || 'int8[]'::regtype::oid)
             and p.prorettype = any(of || array['void', 'timestamptz']::regtype[])
             and p.prosrc not like 'RI_%'
        loop
          execute format(
            'create function public.%I(%s) returns %s language plpgsql as %L',
            f.name, f.args, f.result,
            format('begin perform public.mark(%L); %s; end', f.signature,
                   case when f.result = 'void'::regtype
                        then format('perform pg_catalog.%I(%s)', f.name, f.given)
                        else format('return pg_catalog.%I(%s)', f.name, f.given) end));
        end loop;
      end $plant$
      """
          .replace("<arguments>", ARGUMENTS);

  private static final List<String> FIT_BETTER =
      List.of(
          """
          create function public.unnest(bigint[]) returns setof bigint language plpgsql as
          $$ begin perform public.mark('unnest'); return query select * from pg_catalog.unnest($1);
          end $$
          """,
          """
          create function public.format(text, name) returns text language plpgsql as
          $$ begin perform public.mark('format'); return pg_catalog.format($1, $2); end $$
          """,
          """
          create function public.format(text, text, name) returns text language plpgsql as
          $$ begin perform public.mark('format'); return pg_catalog.format($1, $2, $3); end $$
          """,
          "create domain public.text as pg_catalog.text check (public.mark('type text'))",
          "create domain public.name as pg_catalog.name check (public.mark('type name'))",
          "create domain public.oid as pg_catalog.oid check (public.mark('type oid'))",
          "create domain public.int8 as pg_catalog.int8 check (public.mark('type int8'))",
          "create domain public.jsonb as pg_catalog.jsonb check (public.mark('type jsonb'))",
          "create domain public.regclass as pg_catalog.regclass check (public.mark('type"
              + " regclass'))",
          """
          create domain public.regprocedure as pg_catalog.regprocedure
            check (public.mark('type regprocedure'))
          """,
          "create type public.evil as (v bigint)",
          """
          create function public.evil(bigint) returns public.evil language plpgsql as
          $$ begin perform public.mark('cast'); return row($1); end $$
          """,
          "create cast (bigint as public.evil) with function public.evil(bigint) as implicit",
          """
          create function public.evil_and(public.evil, integer) returns bigint language plpgsql as
          $$ begin perform public.mark('evil &'); return 0; end $$
          """,
          """
          create operator public.& (function = public.evil_and, leftarg = public.evil,
            rightarg = integer)
          """);

  /** Not those of the tests' own statements. */
  private static final String MARKS =
      "select distinct what from public.marks where by_user not like 'coatcheck%'";

  private final OwnedSource shop = new OwnedSource();
  private MigrationFixture fixture;

  @BeforeEach
  void plant() {
    shop.admin(
        "grant usage on schema public to public",
        "create table public.orders (id bigserial primary key,"
            + " created_at timestamptz default now())",
        "insert into public.orders (created_at) select now() - make_interval(secs => 5000 - n)"
            + " from generate_series(1, 3000) n",
        // What it sets outlasts the transaction.
        """
        create function public.rude() returns trigger language plpgsql as $$ begin
          perform pg_catalog.set_config('search_path', 'public, pg_catalog', false);
          return new; end $$;
        create trigger rude before update on public.orders for each row
          execute function public.rude()
        """,
        "alter table public.orders owner to " + shop.owner,
        "create table public.item (id bigserial primary key,"
            + " order_id bigint references public.orders on delete cascade)",
        "insert into public.item (order_id) select n from generate_series(1, 2000) n",
        "create trigger rude before update on public.item for each row"
            + " execute function public.rude()",
        "alter table public.item owner to " + shop.owner,
        PLANT);
    FIT_BETTER.forEach(shop::admin);
    // As some set it, and the worst that there is.
    for (String role : List.of(shop.migrator, shop.owner)) {
      shop.admin("alter role " + role + " set search_path = public, pg_catalog");
    }
    fixture = MigrationFixture.on(shop.forMigrator());
  }

  @AfterEach
  void close() {
    fixture.close();
    shop.close();
  }

  @Test
  void nothingOfThemRunsInAnyPhase() {
    TableMigration run = fixture.plan();
    requireUnmarked("plan");
    fixture.rate(run, 500);
    fixture.start(run);
    fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
    requireUnmarked("expand and backfill");
    shop.application(writes("id", 5_000));
    requireUnmarked("writes of the application");
    assertThat(fixture.migrations().unmappedRows().fillOnDemand(fixture.type, 2_990)).isTrue();
    requireUnmarked("filling ahead");
    fixture.rate(run, 0);
    fixture.await(run, RunState.DONE);
    requireUnmarked("the sweep, the index, not null and verify");
    writeItems(8_000);
    requireUnmarked("writes of the child");
    fixture.switchKey(run);
    requireUnmarked("the switch");
    writeItems(8_010);
    shop.admin("alter table public.item rename column order_id to order_number");
    fixture.await(
        () -> fixture.now(run).target().children().getFirst().column().equals("order_number"));
    shop.admin("alter table public.item rename column order_number to order_id");
    fixture.await(
        () -> fixture.now(run).target().children().getFirst().column().equals("order_id"));
    writeItems(8_020);
    requireUnmarked("a renamed child");
    fixture.undo(run, Phase.SWITCH);
    requireUnmarked("undo of the switch");
    // In one transaction, so that the functions still have the old name.
    shop.application(
        Stream.of(
                Stream.of("begin", "alter table public.orders rename column id to number"),
                Stream.of(writes("number", 6_000)),
                Stream.of("commit"))
            .flatMap(statements -> statements)
            .toArray(String[]::new));
    requireUnmarked("a key that was renamed a moment ago");
    fixture.await(() -> fixture.now(run).target().keyColumn().equals("number"));
    shop.admin("alter table public.orders rename column number to id");
    fixture.await(() -> fixture.now(run).target().keyColumn().equals("id"));
    shop.application(writes("id", 7_000));
    requireUnmarked("a key that was renamed twice");
    fixture.undo(run, Phase.EXPAND);
    requireUnmarked("undo");

    nothingOfThemRunsInTheLastPhase();

    shop.application("select 6::bigint & 3");
    assertThat(shop.texts(MARKS)).as("what is planted works").contains("bigint & integer");
  }

  private void nothingOfThemRunsInTheLastPhase() {
    TableMigration run = fixture.run();
    fixture.switchKey(run);
    assertThat(fixture.migrations().oldColumns(fixture.now(run))).isPresent();
    requireUnmarked("a look at the old columns");
    fixture.contract(run);
    requireUnmarked("contract");
    shop.application(writes("snowflake_id", 9_000));
    shop.application("insert into public.orders default values");
    requireUnmarked("writes without legacy IDs");
    assertThat(fixture.migrations().unmappedRows().fillOnDemand(fixture.type, 7)).isTrue();
    requireUnmarked("a look into the archive");
    shop.admin("alter table public.orders rename column snowflake_id to id");
    shop.application(
        "insert into public.orders default values",
        "insert into public.orders (id) values (9001)",
        "update public.orders set id = 1 where id operator(pg_catalog.=) 9001");
    requireUnmarked("a renamed column of the keys");
    assertThat(shop.texts("select id::text from public.orders where id = 9001")).hasSize(1);
  }

  /**
   * An insert, an update of the key, a delete, and the ID again, by a session that looks into
   * {@code public} first: only what it says itself is qualified.
   */
  private static String[] writes(String key, int id) {
    String insert = "insert into public.orders (%s) values (%d)".formatted(key, id);
    String thatRow = " where %s operator(pg_catalog.=) %d".formatted(key, id);
    return new String[] {
      insert,
      "update public.orders set snowflake_id = 1" + thatRow,
      "delete from public.orders" + thatRow,
      insert
    };
  }

  /** A child that comes second, one that comes first, one that moves, and one that is deleted. */
  private void writeItems(int id) {
    shop.application(
        "set search_path = pg_catalog; insert into public.orders (id) values (%d)".formatted(id),
        "set search_path = pg_catalog; insert into public.item (order_id) values (%d)"
            .formatted(id),
        "set search_path = pg_catalog; with c as (insert into public.item (order_id) values"
            + " (%d) returning order_id) insert into public.orders (id) select order_id from c"
                .formatted(id + 1),
        "set search_path = pg_catalog; update public.item set order_id = %d where id = 5"
            .formatted(id),
        "set search_path = pg_catalog; delete from public.orders where id = " + (id + 1));
  }

  private void requireUnmarked(String when) {
    assertThat(shop.texts(MARKS)).as(when).isEmpty();
  }
}

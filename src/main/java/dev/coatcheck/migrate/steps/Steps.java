package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.RowKeyTable;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** All steps of a run, in order, with every statement that it will send. */
public final class Steps {
  /** Two runs that both find no schema yet would both make it, and the second would fail. */
  private static final String ALONE = "select pg_catalog.pg_advisory_xact_lock(<lock_class>, 0)";

  private static final String SCHEMA = "create schema if not exists <schema>";

  /** One row for each table that something of ours is on. */
  private static final String CHECKPOINT =
      """
      create table if not exists <schema>.checkpoint (
        run         uuid   not null,
        table_oid   bigint not null,
        fence       bigint not null default 0,  -- counts runners
        status      text   not null default 'running',
        high_id     bigint not null,            -- H, the highest legacy ID before the triggers
        t0_ms       bigint not null,            -- since the epoch of the layout
        first_position bigint not null,            -- all keys of the backfill come after it
        last_position  bigint not null,
        last_id     bigint not null default 0,
        rows_done   bigint not null default 0,
        times_lost   bigint not null default 0,
        before_epoch bigint not null default 0,
        archived_id bigint not null default 0,
        constraint checkpoint_pkey primary key (run),
        constraint checkpoint_one_run_per_table unique (table_oid))\
      """;

  /** What our objects are called by, whatever the table is called by the time of another run. */
  private static final String KNOWN_TABLES =
      """
      create table if not exists <schema>.known_table (
        first_schema text     not null,
        first_name   text     not null,
        relation     regclass not null,  -- dumped by its name
        constraint known_table_pkey primary key (first_schema, first_name))\
      """;

  private static final String KNOWN =
      """
      insert into <schema>.known_table (first_schema, first_name, relation)
      values (<first_schema>, <first_name>, <oid>)
      on conflict (first_schema, first_name) do update set relation = excluded.relation\
      """;

  /** Rows that could not be filled, with the keys that were kept for them. */
  private static final String SET_ASIDE =
      """
      create table if not exists <schema>.set_aside (
        run    uuid   not null,
        legacy bigint not null,
        key    bigint not null,
        cause  text   not null,
        error  text   not null,
        tries  bigint not null default 1,
        constraint set_aside_pkey primary key (run, legacy))\
      """;

  /** Outlives the run: a legacy ID never gets a second key. */
  private static final String ARCHIVE =
      """
      create table if not exists <archive> (
        legacy bigint primary key, key bigint not null)\
      """;

  private static final String OUTBOX =
      """
      create table <%s> (
        n bigint generated always as identity primary key,
        legacy bigint, key bigint not null)\
      """;

  /** What waits is brought first; whoever undoes this tries again, as for a lock. */
  private static final String OUTBOX_IS_EMPTY =
      """
      do <body> begin
        if exists (select from <outbox_a>) or exists (select from <outbox_b>) then
          raise exception 'mappings wait in the outbox' using errcode = 'lock_not_available';
        end if;
      end <body>\
      """;

  /** Even: the first outbox is written to; odd: the second. Read without a snapshot. */
  private static final String SWITCH =
      "create sequence <switch> as bigint minvalue 0 start 0 cache 1 no cycle";

  /** The first number that is drawn leaves a sequence where it is. */
  private static final String SWITCH_IS_DRAWN = "select nextval(<switch_text>)";

  private static final String NO_EXECUTE = "revoke all on function <%s>(%s) from public";

  /** Fires for writers that call themselves replicas too. */
  private static final String ALWAYS = "alter table <table> enable always trigger <t_%s>";

  /** Those that read the key column by its name. */
  private static final List<String> NAMING =
      List.of(
          DualWrite.ON_INSERT, DualWrite.ON_INSERTED, DualWrite.ON_ARCHIVED, DualWrite.ON_DELETE);

  /**
   * Under the lock that the triggers need no insert is under way: what is there has no key, what
   * comes has one.
   */
  private static final String BEGIN =
      """
      insert into <schema>.checkpoint (run, table_oid, high_id, t0_ms, first_position, last_position)
      select <run>, <oid>, h.high_id, h.t0_ms, h.position, h.position
        from (select m.high_id,
                     floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch> as t0_ms,
                     greatest(((m.high_id >> 22) + 1) << 12, coalesce(a.position, 0)) as position
                from (select coalesce(max(t.<id>), 0)::bigint as high_id from <table> t) as m,
                     (select max(((key >> 22) << 12) | (key & 4095)) as position
                        from <archive> where (key >> 12) & 1023 = 1022) as a) as h
      on conflict (run) do nothing\
      """;

  private static final String ARCHIVE_REST =
      """
      insert into <archive> (legacy, key)
      select t.<id>, t.snowflake_id from <table> t
       where t.snowflake_id is not null
         and t.<id> > coalesce(
           (select archived_id from <schema>.checkpoint where run = <run>), 0)
      on conflict do nothing\
      """;

  /** All that take nothing. */
  private static final List<String> FUNCTIONS =
      List.of(
          "on_insert",
          "on_inserted",
          "on_archived",
          "on_reused",
          "on_delete",
          "on_update",
          "on_refused",
          "mint");

  /**
   * From the check on the application can't update a row that has no key. The rows of the last
   * moment are looked at under the lock, all others were before.
   */
  private static final String NO_STRAGGLER =
      """
      do <body> begin
        if exists (select from <table> t
                    where t.snowflake_id is null and t.<id> > %s) then
          raise exception 'a row came in without a key' using errcode = '%s';
        end if;
      end <body>\
      """
          .formatted(Step.Filled.AFTER_ID, Step.Filled.STRAGGLER);

  private final TargetSql sql;

  private Steps(TargetSql sql) {
    this.sql = sql;
  }

  /**
   * The steps of a run. Nothing is built that only the switch of the primary key needs: an index
   * that nobody reads costs every writer.
   */
  public static List<Step> of(Target target) {
    Steps steps = new Steps(new TargetSql(target));
    List<Step> all = new ArrayList<>();
    all.add(steps.prepare());
    all.add(steps.dualWrite());
    all.add(steps.archive());
    all.add(new Step.Fill(Backfill.STATEMENTS.stream().map(steps.sql::fill).toList()));
    all.add(steps.index("new_perm", "snowflake_id", target));
    all.addAll(steps.notNull());
    all.add(new Step.Verify());
    return List.copyOf(all);
  }

  /** What has to be sent when a column has another name now, or the table another owner. */
  static List<String> functions(Target target) {
    TargetSql sql = new TargetSql(target);
    return Stream.concat(NAMING.stream(), Stream.of(Ownership.GIVE)).map(sql::fill).toList();
  }

  /** What an undo reads or locks, each made empty if it is not there. */
  static List<String> mending() {
    return List.of(
        SCHEMA,
        CHECKPOINT,
        SET_ASIDE,
        ARCHIVE,
        ifNotThere(OUTBOX.formatted("outbox_a")),
        ifNotThere(OUTBOX.formatted("outbox_b")),
        ifNotThere(SWITCH),
        ifNotThere(NumberSource.SEQUENCE));
  }

  private static String ifNotThere(String create) {
    return create.replaceFirst("^create (table|sequence) ", "create $1 if not exists ");
  }

  private Step prepare() {
    List<String> make = new ArrayList<>();
    make.addAll(
        List.of(
            ALONE,
            SCHEMA,
            CHECKPOINT,
            KNOWN_TABLES,
            KNOWN,
            SET_ASIDE,
            ARCHIVE,
            OUTBOX.formatted("outbox_a"),
            OUTBOX.formatted("outbox_b"),
            SWITCH,
            SWITCH_IS_DRAWN,
            NumberSource.SEQUENCE,
            NumberSource.FUNCTION));
    make.addAll(NAMING);
    make.addAll(
        List.of(
            DualWrite.ON_REUSED, DualWrite.ON_UPDATE, DualWrite.ON_REFUSED, RowKeyTable.FUNCTION));
    FUNCTIONS.forEach(function -> make.add(NO_EXECUTE.formatted(function, "")));
    make.add(NO_EXECUTE.formatted("fill", "bigint[], bigint[]"));
    make.add(Ownership.GIVE);
    List<String> drop =
        List.of(
            "lock table <outbox_a>, <outbox_b> in access exclusive mode",
            OUTBOX_IS_EMPTY,
            "drop function if exists <%s>(), <fill>(bigint[], bigint[])"
                .formatted(String.join(">(), <", FUNCTIONS)),
            Ownership.TAKE_BACK,
            "drop sequence if exists <mint_seq>, <switch>",
            "drop table if exists <outbox_a>, <outbox_b>",
            // Where the table is gone, nothing else has removed it.
            "delete from <schema>.checkpoint where run = <run>");
    return ddl(
        Phase.EXPAND, Step.PREPARE, make, drop, "select to_regclass(<mint_seq_text>) is not null");
  }

  /**
   * The column and its triggers at once: what the application wrote to the column before they stood
   * would pass for a key.
   */
  private Step dualWrite() {
    List<String> on = new ArrayList<>();
    on.addAll(
        List.of(
            "alter table <table> add column snowflake_id bigint",
            DualWrite.INSERT_TRIGGER,
            DualWrite.INSERTED_TRIGGER,
            DualWrite.REUSED_TRIGGER,
            DualWrite.DELETE_TRIGGER,
            DualWrite.UPDATE_TRIGGER,
            DualWrite.REKEY_TRIGGER,
            DualWrite.TRUNCATE_TRIGGER));
    TargetSql.TRIGGERS.forEach(event -> on.add(ALWAYS.formatted(event)));
    on.add(BEGIN);
    on.add(NumberSource.START);
    List<String> off = new ArrayList<>();
    off.add("lock table <table> in access exclusive mode");
    off.add(ARCHIVE_REST);
    off.add("drop trigger if exists <t_archived> on <table>");
    TargetSql.TRIGGERS.forEach(
        event -> off.add("drop trigger if exists <t_%s> on <table>".formatted(event)));
    off.add("alter table <table> drop column if exists snowflake_id");
    off.add("delete from <schema>.set_aside where run = <run>");
    off.add("delete from <schema>.checkpoint where run = <run>");
    return ddl(
        Phase.EXPAND,
        Step.DUAL_WRITE,
        on,
        off,
        "select exists (select from pg_trigger where tgrelid = <oid>::oid"
            + " and tgname = '"
            + TargetSql.TRIGGER_START
            + "insert')");
  }

  /**
   * Under the lock no insert is under way that would be archived neither by itself, nor by the walk
   * through the table that follows, which begins anew.
   */
  private Step archive() {
    List<String> begin =
        List.of(
            "lock table <table> in share row exclusive mode",
            DualWrite.ARCHIVED_TRIGGER,
            ALWAYS.formatted("archived"),
            "update <schema>.checkpoint set archived_id = 0 where run = <run>");
    return new Step.Archive(begin.stream().map(sql::fill).toList());
  }

  private Step index(String kind, String column, Target target) {
    return new Step.Index(
        Phase.INDEX,
        kind.replace('_', '-'),
        target.objects().derived(kind),
        sql.fill("create unique index concurrently <%s> on <table> (%s)".formatted(kind, column)),
        sql.fill("drop index concurrently if exists <drop_%s>".formatted(kind)));
  }

  private List<Step> notNull() {
    String isThere =
        "exists (select from pg_constraint where conrelid = <oid>::oid"
            + " and conname = <filled_text>";
    return List.of(
        new Step.Filled(
            Phase.NOT_NULL,
            "validate",
            Stream.of(
                    "lock table <table> in access exclusive mode",
                    NO_STRAGGLER,
                    "alter table <table> add constraint <filled>"
                        + " check (snowflake_id is not null) not valid")
                .map(sql::fill)
                .toList(),
            sql.fill("alter table <table> validate constraint <filled>"),
            sql.fill("alter table <table> drop constraint if exists <filled>"),
            sql.fill("select " + isThere + " and convalidated) or " + isNotNull()),
            sql.fill("select " + isThere + ")"),
            sql.fill("select coalesce(max(t.<id>), 0)::bigint from <table> t"),
            sql.fill(
                "select t.<id>::bigint from <table> t where t.snowflake_id is null"
                    + " and t.<id> > ? order by t.<id> limit 20")),
        ddl(
            Phase.NOT_NULL,
            "set-not-null",
            List.of(
                "alter table <table> alter column snowflake_id set not null",
                "alter table <table> drop constraint <filled>"),
            List.of("alter table <table> alter column snowflake_id drop not null"),
            "select " + isNotNull()));
  }

  private static String isNotNull() {
    return "(select attnotnull from pg_attribute where attrelid = <oid>::oid"
        + " and attname = 'snowflake_id')";
  }

  private Step ddl(Phase phase, String name, List<String> apply, List<String> undo, String check) {
    return new Step.Ddl(
        phase,
        name,
        apply.stream().map(sql::fill).toList(),
        undo.stream().map(sql::fill).toList(),
        sql.fill(check));
  }
}

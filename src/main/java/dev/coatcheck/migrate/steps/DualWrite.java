package dev.coatcheck.migrate.steps;

/**
 * What keeps new rows in step while the table is written to: triggers on the table, and the
 * functions behind them. Those run as our user and see nothing but Postgres's own functions and
 * operators. The exception is {@link #ON_REUSED}, which fires triggers of the table itself.
 *
 * <p>The key column is read by its name. Where it has been renamed, that fails, and the functions
 * look its name up by its number until they are replaced by {@link Steps#functions}.
 */
public final class DualWrite {
  private static final String KEY_COLUMN =
      "(select a.attname from pg_attribute a"
          + " where a.attrelid = tg_relid and a.attnum = <key_attnum>)";

  /** Reads the legacy ID of a row; in {@code %s}: new or old. */
  private static final String LEGACY =
      """
      declare
        id bigint;
      begin
        begin
          id := %1$s.<id>;
        exception when undefined_column then
          execute format('select ($1).%%I', <key_column>) into id using %1$s;
        end;
      """
          .replace("<key_column>", KEY_COLUMN);

  /**
   * Fills the key of a new row. A legacy ID that was used before gets the key that it had. Whatever
   * the application says is replaced: {@code insert … select *} copies a key along.
   */
  static final String ON_INSERT =
      """
      create or replace function <on_insert>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      <legacy>
        new.snowflake_id := coalesce((select a.key from <archive> a where a.legacy = id), <mint>());
        return new;
      end <body>\
      """
          .replace("<legacy>", LEGACY.formatted("new").stripTrailing());

  /**
   * New rows by their legacy ID and key: those of the transition table, or, where it has another
   * name for the key, what was read of it.
   */
  private static final String NEW_ROWS =
      """
      declare
        ids bigint[];
        keys bigint[];
      begin
        begin
          perform i.<id> from inserted i limit 0;
        exception when undefined_column then
          execute format('select coalesce(array_agg(i.%I::bigint), array[]::bigint[]),
                                 array_agg(i.snowflake_id) from inserted i', <key_column>)
            into ids, keys;
        end;
      """
          .replace("<key_column>", KEY_COLUMN);

  /**
   * Writes what was inserted to the outbox, once per row: before the insert, {@code ON CONFLICT}
   * would have written several entries. If a legacy ID was freed by a delete that was not yet
   * committed when the row came, its old key is only seen now, and {@link #ON_REUSED} is told; and
   * never by an older snapshot, whose transaction therefore archives what it inserts: that fails,
   * to be tried again, if there is a key that it can't see.
   */
  static final String ON_INSERTED =
      """
      create or replace function <on_inserted>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      <new_rows>
        if current_setting('transaction_isolation') <> 'read committed' then
      <archive_them>
        end if;
      <tell_reused>
        if (select last_value from <switch>) % 2 = 0 then
      <to_outbox_a>
        else
      <to_outbox_b>
        end if;
        return null;
      end <body>\
      """
          .replace("<new_rows>", NEW_ROWS.stripTrailing())
          .replace("<archive_them>", ofNewRows(archive()))
          .replace(
              "<tell_reused>",
              ofNewRows(
                  """
                  perform set_config('coatcheck.reused', <run>, true)
                     from <rows> join <archive> a on a.legacy = i.id where a.key <> i.key limit 1;
                  """))
          .replace("<to_outbox_a>", ofNewRows(outbox("<outbox_a>")))
          .replace("<to_outbox_b>", ofNewRows(outbox("<outbox_b>")));

  /** While keys are being archived for good, new rows are archived as they come. */
  static final String ON_ARCHIVED =
      """
      create or replace function <on_archived>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      <new_rows>
      <archive_them>
        return null;
      end <body>\
      """
          .replace("<new_rows>", NEW_ROWS.stripTrailing())
          .replace("<archive_them>", ofNewRows(archive()));

  /**
   * Gives rows back the keys that their legacy IDs had, which fires the table's own triggers and
   * checks inside the application's transaction: so with the search path that the plan took for the
   * application's, and as the table's owner. The path of the session itself would let a writer put
   * a temporary table in front of the owner's, with a trigger that then runs as the owner.
   * Everything else in it is qualified. That it was told to look is a hint, which anybody may give:
   * it looks for itself.
   */
  static final String ON_REUSED =
      """
      create or replace function <on_reused>() returns trigger
        language plpgsql security definer set search_path = <application_path>, pg_temp as <body>
      begin
        if pg_catalog.current_setting('coatcheck.reused', true) operator(pg_catalog.=) <run> then
          perform pg_catalog.set_config('coatcheck.reused', '', true);
          perform pg_catalog.set_config('coatcheck.fill', <run>, true);
          execute pg_catalog.format(
            'update %1$s t set snowflake_id = a.key'
            ' from inserted i join %3$s a on a.legacy operator(pg_catalog.=) i.%2$I'
            ' where t.%2$I operator(pg_catalog.=) i.%2$I'
            ' and t.snowflake_id operator(pg_catalog.<>) a.key',
            tg_relid::pg_catalog.regclass,
            (select a.attname from pg_catalog.pg_attribute a
              where a.attrelid operator(pg_catalog.=) tg_relid
                and a.attnum operator(pg_catalog.=) <key_attnum>::pg_catalog.int2),
            <archive_text>);
          perform pg_catalog.set_config('coatcheck.fill', '', true);
        end if;
        return null;
      end <body>\
      """;

  static final String ON_DELETE =
      """
      create or replace function <on_delete>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      <legacy>
        if old.snowflake_id is not null then
          insert into <archive> (legacy, key) values (id, old.snowflake_id)
            on conflict do nothing;
        end if;
        return old;
      end <body>\
      """
          .replace("<legacy>", LEGACY.formatted("old").stripTrailing());

  /** Puts the key back rather than raise: {@code DO UPDATE SET … = excluded.…} is common. */
  static final String ON_UPDATE =
      """
      create or replace function <on_update>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      begin
        new.snowflake_id := old.snowflake_id;
        return new;
      end <body>\
      """;

  static final String ON_REFUSED =
      """
      create or replace function <on_refused>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      begin
        raise exception 'coatcheck: % of the key is refused while the table migrates', tg_op
          using errcode = 'object_not_in_prerequisite_state',
                hint = 'Undo the table migration first, or delete the rows.';
      end <body>\
      """;

  static final String INSERT_TRIGGER =
      """
      create trigger <t_insert> before insert on <table>
        for each row execute function <on_insert>()\
      """;

  static final String INSERTED_TRIGGER =
      """
      create trigger <t_inserted> after insert on <table>
        referencing new table as inserted
        for each statement execute function <on_inserted>()\
      """;

  /** Comes after {@link #INSERTED_TRIGGER} by its name. */
  static final String REUSED_TRIGGER =
      """
      create trigger <t_reused> after insert on <table>
        referencing new table as inserted
        for each statement execute function <on_reused>()\
      """;

  static final String ARCHIVED_TRIGGER =
      """
      create or replace trigger <t_archived> after insert on <table>
        referencing new table as inserted
        for each statement execute function <on_archived>()\
      """;

  static final String DELETE_TRIGGER =
      """
      create trigger <t_delete> before delete on <table>
        for each row execute function <on_delete>()\
      """;

  static final String UPDATE_TRIGGER =
      """
      create trigger <t_update> before update of snowflake_id on <table>
        for each row when (old.snowflake_id is distinct from new.snowflake_id
          and current_setting('coatcheck.fill', true) is distinct from <run>)
        execute function <on_update>()\
      """;

  static final String REKEY_TRIGGER =
      """
      create trigger <t_rekey> before update of <id> on <table>
        for each row when (old.<id> is distinct from new.<id>)
        execute function <on_refused>()\
      """;

  public static final String TRUNCATE_TRIGGER =
      """
      create trigger <t_truncate> before truncate on <table>
        for each statement execute function <on_refused>()\
      """;

  private DualWrite() {}

  private static String archive() {
    return """
    insert into <archive> (legacy, key)
    select i.id, i.key from <rows> on conflict do nothing;
    """;
  }

  private static String outbox(String table) {
    return """
    insert into <outbox> (legacy, key)
    select i.id, coalesce(a.key, i.key)
      from <rows> left join <archive> a on a.legacy = i.id;
    """
        .replace("<outbox>", table);
  }

  /** A statement about {@code <rows>} for both ways in which they can be there. */
  private static String ofNewRows(String statement) {
    return "if ids is null then\n"
        + statement.replace(
            "<rows>", "(select n.<id>, n.snowflake_id from inserted n) as i (id, key)")
        + "else\n"
        + statement.replace("<rows>", "unnest(ids, keys) as i (id, key)")
        + "end if;";
  }
}

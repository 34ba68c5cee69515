package dev.coatcheck.migrate.steps;

/**
 * What keeps new rows in step while the table is written to: triggers on the table, and the
 * functions behind them, which run as their owner with a fixed search path.
 */
public final class DualWrite {
  /**
   * Fills the key of a new row. A legacy ID that was used before gets the key that it had. Whatever
   * the application says is replaced: {@code insert … select *} copies a key along.
   */
  static final String ON_INSERT =
      """
      create function <on_insert>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      begin
        new.snowflake_id := coalesce(
          (select a.key from <archive> a where a.legacy = new.<id>), <mint>());
        return new;
      end <body>\
      """;

  /**
   * Writes what was inserted to the outbox, once per row: before the insert, {@code ON CONFLICT}
   * would have written several entries. If a legacy ID was freed by a delete that was not yet
   * committed when the row came, its old key is only seen now; and never by an older snapshot,
   * whose transaction therefore archives what it inserts: that fails, to be tried again, if there
   * is a key that it can't see.
   */
  private static final String ON_INSERTED =
      """
      create or replace function <on_inserted>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      begin
        if current_setting('transaction_isolation') <> 'read committed' then
          insert into <archive> (legacy, key)
          select i.<id>, i.snowflake_id from inserted i on conflict do nothing;
        end if;
        if exists (select from inserted i join <archive> a
                     on a.legacy = i.<id> and a.key <> i.snowflake_id) then
          perform set_config('coatcheck.fill', 'on', true);
          update <table> t set snowflake_id = a.key
            from inserted i join <archive> a on a.legacy = i.<id>
           where t.<id> = i.<id> and t.snowflake_id <> a.key;
          perform set_config('coatcheck.fill', '', true);
        end if;
      """;

  private static final String TO_OUTBOX =
      """
        if (select last_value from <switch>) % 2 = 0 then
          insert into <outbox_a> (legacy, key)
          select i.<id>, coalesce(a.key, i.snowflake_id)
            from inserted i left join <archive> a on a.legacy = i.<id>;
        else
          insert into <outbox_b> (legacy, key)
          select i.<id>, coalesce(a.key, i.snowflake_id)
            from inserted i left join <archive> a on a.legacy = i.<id>;
        end if;
        return null;
      end <body>\
      """;

  /** While keys are being archived for good, new rows are archived as they come. */
  private static final String ARCHIVE_INSERTED =
      """
        insert into <archive> (legacy, key)
        select i.<id>, i.snowflake_id from inserted i on conflict do nothing;
      """;

  static final String ON_DELETE =
      """
      create function <on_delete>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      begin
        if old.snowflake_id is not null then
          insert into <archive> (legacy, key) values (old.<id>, old.snowflake_id)
            on conflict do nothing;
        end if;
        return old;
      end <body>\
      """;

  /** Puts the key back rather than raise: {@code DO UPDATE SET … = excluded.…} is common. */
  static final String ON_UPDATE =
      """
      create function <on_update>() returns trigger
        language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
      begin
        new.snowflake_id := old.snowflake_id;
        return new;
      end <body>\
      """;

  static final String ON_REFUSED =
      """
      create function <on_refused>() returns trigger
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

  static final String DELETE_TRIGGER =
      """
      create trigger <t_delete> before delete on <table>
        for each row execute function <on_delete>()\
      """;

  static final String UPDATE_TRIGGER =
      """
      create trigger <t_update> before update of snowflake_id on <table>
        for each row when (old.snowflake_id is distinct from new.snowflake_id
          and current_setting('coatcheck.fill', true) is distinct from 'on')
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

  static String onInserted() {
    return ON_INSERTED + TO_OUTBOX;
  }

  static String onInsertedArchiving() {
    return ON_INSERTED + ARCHIVE_INSERTED + TO_OUTBOX;
  }
}

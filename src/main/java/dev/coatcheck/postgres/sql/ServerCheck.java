package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.Shards;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;

/** What the gateway needs of the server that holds its schema, checked when it starts. */
public final class ServerCheck {
  private static final int POSTGRES_OLDEST = 15;

  private static final String BOUNDS_REMEDY =
      """
      select format(
               'alter role %1$I in database %2$I set statement_timeout = %3$L; '
                 'alter role %1$I in database %2$I set lock_timeout = %4$L; '
                 'alter role %1$I in database %2$I set search_path = pg_catalog, pg_temp',
               current_user, current_database(), '850ms', '700ms')
       where current_setting('statement_timeout') = '0' or current_setting('lock_timeout') = '0'
          or replace(current_setting('search_path'), ' ', '') <> 'pg_catalog,pg_temp'
      """;

  private ServerCheck() {}

  /**
   * Whether statements would go on at the server when nobody waits for them any more, and find what
   * others planted in {@code public}, because a pooler between dropped what connections begin with.
   *
   * @return the statements that give it to our user, for the operator to judge: they bind everybody
   *     who logs in as this user
   */
  public static Optional<String> missingBounds(Database database) {
    return database.read(
        "time-outs",
        sql ->
            Optional.ofNullable(sql.resultQuery(BOUNDS_REMEDY).fetchOne())
                .map(row -> row.get(0, String.class)));
  }

  /** Where the rows of each bucket are, after the schema was made. */
  public static Shards shards(Database database) {
    return database.read("shards", ShardCatalog::shards);
  }

  /** Why the gateway can't use this server, each in words for the operator. */
  static List<String> faults(DSLContext sql) {
    List<String> faults = new ArrayList<>();
    Optional<String> other = ShardCatalog.fault(sql);
    if (other.isPresent()) {
      return List.of(other.get());
    }
    int version = Integer.parseInt(setting(sql, "server_version_num")) / 10_000;
    if (version < POSTGRES_OLDEST) {
      faults.add("it is PostgreSQL " + version + ", and 15 is the oldest supported");
    }
    for (String durable : List.of("fsync", "full_page_writes", "synchronous_commit")) {
      if (found(sql, durable).equals("off")) {
        faults.add(durable + " is off, so the database may lose committed data; turn it on");
      }
    }
    if (setting(sql, "in_hot_standby").equals("on")) {
      faults.add("it is a standby; name the primary");
    }
    return faults;
  }

  /** Why a migration would fail, which Flyway would try for ten seconds. */
  static Optional<String> migrationFault(DSLContext sql) {
    return mayNotMakeTheSchema(sql)
        ? Optional.of(
            "its user may not make the schema \"coatcheck\"; run: grant create on database "
                + sql.fetchValue("select quote_ident(current_database())")
                + " to "
                + sql.fetchValue("select quote_ident(current_user)"))
        : Optional.empty();
  }

  private static boolean mayNotMakeTheSchema(DSLContext sql) {
    return Boolean.TRUE.equals(
        sql.fetchValue(
            "select to_regnamespace('coatcheck') is null"
                + " and not has_database_privilege(current_database(), 'create')"));
  }

  private static String setting(DSLContext sql, String name) {
    return String.valueOf(sql.fetchValue("select current_setting(?)", name));
  }

  /** As other sessions begin with it: the pool's own don't do without it. */
  private static String found(DSLContext sql, String name) {
    return String.valueOf(
        sql.fetchValue("select reset_val from pg_catalog.pg_settings where name = ?", name));
  }
}

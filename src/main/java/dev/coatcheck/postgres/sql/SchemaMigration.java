package dev.coatcheck.postgres.sql;

import java.util.ArrayList;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.jooq.DSLContext;

/** Brings our own schema, {@code coatcheck}, up to date, under Flyway's lock. */
public final class SchemaMigration {
  private static final int POSTGRES_OLDEST = 15;

  private SchemaMigration() {}

  /**
   * Checks that this Postgres keeps what it acknowledges, then applies what is missing.
   *
   * @param settings to log in with beside the pool: a migration takes as long as it needs
   * @throws UnusableDatabase if it is too old, a standby, or allowed to lose commits
   */
  public static void run(Database database, DatabaseSettings settings) throws UnusableDatabase {
    List<String> faults = database.read("server check", SchemaMigration::faults);
    if (!faults.isEmpty()) {
      throw new UnusableDatabase("The database can't be used: " + String.join("; ", faults) + ".");
    }
    try {
      Flyway.configure()
          .dataSource(settings.url(), settings.user(), settings.password())
          .defaultSchema("coatcheck")
          .locations("classpath:db/migration")
          .load()
          .migrate();
    } catch (FlywayException failed) {
      throw new UnusableDatabase(
          "The schema \"coatcheck\" could not be brought up to date: " + failed.getMessage());
    }
  }

  private static List<String> faults(DSLContext sql) {
    List<String> faults = new ArrayList<>();
    int version = Integer.parseInt(setting(sql, "server_version_num")) / 10_000;
    if (version < POSTGRES_OLDEST) {
      faults.add("it is PostgreSQL " + version + ", and 15 is the oldest supported");
    }
    for (String durable : List.of("fsync", "full_page_writes", "synchronous_commit")) {
      if (setting(sql, durable).equals("off")) {
        faults.add(durable + " is off, so it may lose what it acknowledged; turn it on");
      }
    }
    if (setting(sql, "in_hot_standby").equals("on")) {
      faults.add("it is a standby; name the primary");
    }
    if (mayNotMakeTheSchema(sql)) {
      // Flyway would try for ten seconds.
      faults.add(
          "its user may not make the schema \"coatcheck\"; run: grant create on database "
              + sql.fetchValue("select quote_ident(current_database())")
              + " to "
              + sql.fetchValue("select quote_ident(current_user)"));
    }
    return faults;
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
}

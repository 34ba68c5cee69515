package dev.coatcheck.migrate.run;

import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A source as it is elsewhere: tables belong to a role of the application, and ours is a member of
 * it and no superuser. In {@code public} everybody may create what they like.
 */
final class OwnedSource implements AutoCloseable {
  final TestDatabase database = TestDatabase.empty();
  final String owner = role("shop");
  final String migrator = role("migrator");

  OwnedSource() {
    admin(
        "create role " + owner + " login password 'shop'",
        "create role " + migrator + " login password 'migrator' in role " + owner,
        "grant create on database " + database.name() + " to " + migrator,
        "grant create, usage on schema public to public",
        "create table public.marks (what text, by_user name, by_session name)",
        "grant insert on public.marks to public",
        """
        create function public.mark(what text) returns boolean language plpgsql
          set search_path = pg_catalog as $$
        begin
          insert into public.marks values (what, current_user, session_user);
          return true;
        end $$
        """);
  }

  /** Where our role logs in. */
  TestDatabase forMigrator() {
    return new TestDatabase(database.url(), migrator, "migrator");
  }

  /** Where the application does. */
  TestSql application() {
    return new TestSql(database.url(), owner, "shop");
  }

  void application(String... statements) {
    application().execute(statements);
  }

  void admin(String... statements) {
    database.sql().execute(statements);
  }

  /** The first column of all rows, in one text. */
  String text(String query) {
    return String.join(", ", texts(query));
  }

  List<String> texts(String query) {
    return database.sql().texts(query);
  }

  private static String role(String what) {
    return what + "_" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
  }

  @Override
  public void close() {
    admin(
        "drop owned by " + migrator + ", " + owner + " cascade",
        "drop role " + migrator,
        "drop role " + owner);
  }
}

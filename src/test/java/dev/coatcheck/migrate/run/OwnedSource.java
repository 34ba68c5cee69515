package dev.coatcheck.migrate.run;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.postgres.sql.Query;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.sql.SQLException;
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
        "grant create on database " + databaseName() + " to " + migrator,
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
  Query application() {
    return new Query(database.url(), owner, "shop");
  }

  void application(String... statements) {
    execute(application(), statements);
  }

  void admin(String... statements) {
    execute(Query.on(database), statements);
  }

  /** The first column of all rows, in one text. */
  String text(String query) {
    try {
      return requireNonNull(
          Query.on(database)
              .text(
                  "select coalesce(string_agg(r.v::text, ', '), '') from ("
                      + query
                      + ") as r (v)"));
    } catch (SQLException failed) {
      throw new AssertionError(query, failed);
    }
  }

  List<String> texts(String query) {
    String text = text(query);
    return text.isEmpty() ? List.of() : List.of(text.split(", "));
  }

  private static void execute(Query as, String... statements) {
    for (String statement : statements) {
      try {
        as.execute(statement);
      } catch (SQLException failed) {
        throw new AssertionError(statement, failed);
      }
    }
  }

  private String databaseName() {
    return database.url().replaceAll(".*/([^/?]+)(\\?.*)?", "$1");
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

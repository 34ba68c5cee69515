package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A database of a customer for a test class, and a role in it that is nobody special. */
final class SourceFixture implements AfterAllCallback {
  private final TestDatabase database = TestDatabase.empty();
  private final String role =
      "plain_" + ProcessHandle.current().pid() + "_" + Integer.toHexString(hashCode());
  private final List<Source> opened = new ArrayList<>();
  final Source source = again();

  SourceFixture() {
    execute(
        "create role " + role + " login password 'plain'",
        "grant create on database " + name() + " to " + role);
  }

  private Source open(String url, String user, String password) {
    DatabaseSettings settings = new DatabaseSettings(url, user, password, 2);
    Source made =
        new Source(
            "shop",
            settings,
            Database.openPinned(settings, "shop", new Observer()),
            false,
            WatchTimeouts.DEFAULT);
    opened.add(made);
    return made;
  }

  /** As the role that is nobody special; it may make schemas. */
  Source asPlain() {
    return open(database.url(), role, "plain");
  }

  /** With a parameter in its URL. */
  Source with(String parameter) {
    return open(database.url() + "?" + parameter, database.user(), database.password());
  }

  /** With sessions that heed what was altered since. */
  Source again() {
    return open(database.url(), database.user(), database.password());
  }

  String plain() {
    return role;
  }

  String name() {
    return database.name();
  }

  /** Empties the schema public. */
  void clear() {
    execute(
        "drop schema public cascade",
        "create schema public",
        "grant create, usage on schema public to " + role);
  }

  static TableSpec wish(String table) {
    return new TableSpec("public", table, Optional.empty(), false);
  }

  TableSurvey.Outcome inspect(TableSpec wish) {
    return new TableSurvey(System::nanoTime).inspect(source, wish);
  }

  TableShape sound(TableSpec wish) {
    return switch (inspect(wish)) {
      case TableSurvey.Outcome.Sound(TableShape shape) -> shape;
      case TableSurvey.Outcome.Refused(List<Diagnostic> findings) ->
          throw new AssertionError(findings);
    };
  }

  static List<Diagnostic> preconditions(TableShape shape) {
    return shape.preconditions().stream().map(Precondition::diagnostic).toList();
  }

  static List<String> codes(List<Diagnostic> findings) {
    return findings.stream().map(Diagnostic::code).toList();
  }

  static List<String> refusals(TableSurvey.Outcome inspection) {
    return switch (inspection) {
      case TableSurvey.Outcome.Sound(TableShape shape) -> throw new AssertionError(shape);
      case TableSurvey.Outcome.Refused(List<Diagnostic> findings) -> codes(findings);
    };
  }

  static String detail(List<Diagnostic> findings, String code) {
    return findings.stream()
        .filter(finding -> finding.code().equals(code))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + code + " in " + findings))
        .detail();
  }

  TestSql sql() {
    return database.sql().inPublic();
  }

  void execute(String... statements) {
    sql().execute(statements);
  }

  List<String> column(String query) {
    return sql().texts(query);
  }

  @Override
  public void afterAll(ExtensionContext testClass) {
    opened.forEach(each -> each.database().close());
    execute("drop schema public cascade", "drop owned by " + role, "drop role " + role);
  }
}

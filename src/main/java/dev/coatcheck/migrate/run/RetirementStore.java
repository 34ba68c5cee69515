package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** All SQL of a retirement. */
final class RetirementStore {
  private static final SqlTemplate TRIGGERS = file("drop-triggers.sql");
  private static final SqlTemplate NEW_KEYS = file("new-keys.sql");
  private static final SqlTemplate NEW_KEYS_RIGHTS = file("new-keys-rights.sql");

  private static final String HAS_FUNCTION =
      "select to_regprocedure(<'beside_new_key'> || '()') is not null";

  private static final String HAS_OUTBOX =
      "select to_regclass(<'outbox_a'>) is not null and to_regclass(<'outbox_b'>) is not null";

  private final Database source;
  private final Target target;
  private final NewKeys newKeys;

  RetirementStore(Database source, Target target, NewKeys newKeys) {
    this.source = source;
    this.target = target;
    this.newKeys = newKeys;
  }

  /** All of them, as they would be sent now. */
  List<String> statements() {
    return source.read(
        "retire table migration",
        sql -> Stream.concat(first(sql).stream(), rest(sql).stream()).toList());
  }

  /**
   * After its commit the outbox gets no more entries. Returns why it failed, in the words of
   * Postgres.
   */
  Optional<String> takeTriggersOff() {
    return sent(this::first);
  }

  boolean hasOutbox() {
    String query = new TargetSql(target).fill(HAS_OUTBOX);
    return source.read("retire table migration", sql -> PlainSql.isTrue(sql, query));
  }

  Optional<String> takeRestOff() {
    return sent(this::rest);
  }

  private Optional<String> sent(Function<DSLContext, List<String>> statements) {
    try {
      return source.write(
          "retire table migration",
          sql -> {
            PlainSql.rows(sql, SourceSession.BOUND_LOCKS, row -> row.getString(1));
            statements.apply(sql).forEach(statement -> PlainSql.execute(sql, statement));
            return Optional.empty();
          });
    } catch (DataAccessException refused) {
      return Optional.of(
          "The source refused it: " + SqlState.words(refused).orElse("no reason given") + ".");
    }
  }

  /** None on a table that is gone. */
  private List<String> first(DSLContext sql) {
    Optional<Target> now = CatalogTable.contracted(sql, target);
    if (now.isEmpty()) {
      return List.of();
    }
    TargetSql names = new TargetSql(now.get());
    boolean isMade = newKeys == NewKeys.NONE || PlainSql.isTrue(sql, names.fill(HAS_FUNCTION));
    List<SqlTemplate> made =
        isMade
            ? List.of()
            : List.of(NEW_KEYS, Steps.numberSourceOf("beside_next_key"), NEW_KEYS_RIGHTS);
    return Stream.concat(Stream.of(TRIGGERS), made.stream())
        .flatMap(template -> names.fillAll(template).stream())
        .toList();
  }

  private List<String> rest(DSLContext sql) {
    return Steps.retirement(CatalogTable.contracted(sql, target).orElse(target));
  }

  private static SqlTemplate file(String name) {
    return SqlTemplate.file(RetirementStore.class, name);
  }
}

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

  /** There is something to do to the column of the keys. */
  private static final String NEEDS_KEY =
      """
      select exists (
        select from pg_class c
         where c.oid = <oid>::oid
           and (? and to_regprocedure(<'beside_new_key'> || '()') is null
             or exists (select from pg_trigger g
                         where g.tgrelid = c.oid and g.tgname in (<trigger_names>))))\
      """;

  private static final String NO_KEY =
      """
      do <body> begin
        raise exception 'the column of the keys is not known: neither the trigger ~coatcheck_update nor a primary key of one column names it'
          using errcode = '<step_refused>',
                hint = 'Drop the triggers ~coatcheck_insert and ~coatcheck_inserted, if the table has them, and retire the run with --new-keys none';
      end <body>\
      """;

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

  /** None on a table that is gone; a refusal if its column of the keys is needed and unknown. */
  private List<String> first(DSLContext sql) {
    Optional<Target> now = CatalogTable.contracted(sql, target);
    TargetSql names = new TargetSql(now.orElse(target));
    if (now.isEmpty()) {
      return PlainSql.isTrue(sql, names.fill(NEEDS_KEY), newKeys == NewKeys.FUNCTION)
          ? List.of(names.fill(NO_KEY))
          : List.of();
    }
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

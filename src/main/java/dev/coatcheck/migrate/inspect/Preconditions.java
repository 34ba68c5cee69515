package dev.coatcheck.migrate.inspect;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What the applications of a table have to be ready for. */
final class Preconditions {
  /** Names and bodies of functions, other than Postgres's own. */
  static final String FUNCTIONS =
      """
      select format('%I.%I', n.nspname, p.proname) || chr(10)
             || left(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), 100000)
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace
        join pg_language l on l.oid = p.prolang
       where n.nspname not in ('pg_catalog', 'information_schema', 'coatcheck_migration')
         and l.lanname not in ('c', 'internal')
         and strpos(lower(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)),
                    (select lower(c.relname) from pg_class c where c.oid = <oid>)) > 0
       order by 1 limit 1000\
      """;

  static final Check COLUMN_GRANTS =
      new Check(
          "column_grants",
          """
          select quote_ident(a.attname) from pg_attribute a
           where a.attrelid = <oid> and a.attacl is not null and not a.attisdropped
           order by a.attnum\
          """,
          "Columns are granted one by one (%s). Whoever has only such grants may not read the new"
              + " column, so its SELECT * and RETURNING * fail: name the columns there.");

  static final Check UPDATE_TRIGGERS =
      new Check(
          "update_triggers",
          """
          select quote_ident(tgname) from pg_trigger
           where tgrelid = <oid> and not tgisinternal and tgtype & 16 = 16
             and tgenabled in ('O', 'A') and tgattr::text = ''
             and not starts_with(tgname::text, '~coatcheck_') order by 1\
          """,
          "Triggers on update will fire once for each row that the backfill fills: %s."
              + " See that they do no harm, for instance to an updated_at.");

  private static final Finding KEYS_AS_STRINGS =
      new Finding(
          "keys_as_strings",
          "New keys exceed 2^53, which a double can't hold: clients have to take them as strings,"
              + " and columns that copy them have to be bigint.");

  private static final int EXCERPT_MAX = 100;

  private final Statements statements;
  private final StatementStore.Recorded recorded;
  private final List<String> functions;

  /**
   * Searches what is known of the applications.
   *
   * @param functions as {@link #FUNCTIONS} has them
   */
  Preconditions(Statements statements, StatementStore.Recorded recorded, List<String> functions) {
    this.statements = statements;
    this.recorded = recorded;
    this.functions = functions;
  }

  List<Finding> findings(boolean keepPrimaryKey) {
    List<Finding> findings = new ArrayList<>();
    findings.add(KEYS_AS_STRINGS);
    search(
            "prepared_star",
            "Prepared SELECT * and RETURNING * fail once the column is added, until they are"
                + " prepared anew: name the columns, or let the drivers try again.",
            statements::takesAllColumns)
        .ifPresent(findings::add);
    search(
            "copy_without_columns",
            "COPY … FROM without a list of columns fails once the column is added: name them.",
            statements::copiesWithoutColumns)
        .ifPresent(findings::add);
    if (!keepPrimaryKey) {
      search(
              "group_by_key",
              "GROUP BY the old key with other columns beside it fails once the primary key has"
                  + " moved: group by those columns too.",
              statements::groupsByKey)
          .ifPresent(findings::add);
      search(
              "on_conflict_on_constraint",
              "ON CONFLICT ON CONSTRAINT with the primary key's name means the new key once it has"
                  + " moved: name the column instead.",
              statements::namesPrimaryKey)
          .ifPresent(findings::add);
    }
    return findings;
  }

  /** Applies if something was found, or if not everything could be searched. */
  private Optional<Finding> search(String code, String sentence, Predicate<String> is) {
    List<String> found = new ArrayList<>();
    recorded.statements().stream().filter(is).map(Preconditions::excerpt).forEach(found::add);
    for (String function : functions) {
      int end = function.indexOf('\n');
      for (String statement : function.substring(end).split(";", -1)) {
        if (is.test(statement)) {
          found.add("function " + function.substring(0, end));
          break;
        }
      }
    }
    if (found.isEmpty() && recorded.whyNot().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            code,
            sentence
                + (found.isEmpty() ? "" : " Found: " + Check.listed(found) + ".")
                + recorded
                    .whyNot()
                    .map(why -> " Not all statements could be searched: " + why + ".")
                    .orElse("")));
  }

  private static String excerpt(String statement) {
    String line = statement.strip().replaceAll("\\s+", " ");
    return "'" + (line.length() > EXCERPT_MAX ? line.substring(0, EXCERPT_MAX) + "…" : line) + "'";
  }
}

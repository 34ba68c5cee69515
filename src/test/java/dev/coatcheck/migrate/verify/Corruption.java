package dev.coatcheck.migrate.verify;

import dev.coatcheck.migrate.source.TargetSql;
import java.util.List;

/**
 * A way to break a table.
 *
 * @param source statements to the source, with the names of {@link TargetSql}
 * @param gateway statements to the gateway, with {@code <type>} for the number of the type
 * @param mend what the copies of all rows can't bring back
 */
record Corruption(
    String code, List<String> named, List<String> source, List<String> gateway, List<String> mend) {
  private static final String LOWEST = Long.toString(Long.MIN_VALUE);
  private static final String ALIAS = "type_id = <type> and scheme = 'legacy' and value = ";

  static final List<Corruption> ALL =
      List.of(
          rows("null_key", "7", key("null", "id = 7")),
          new Corruption(
              "duplicate_key",
              List.of("50", "51"),
              List.of(
                  "drop index <beside_new_perm>",
                  key("(select snowflake_id from orders where id = 51)", "id = 50")),
              List.of(),
              List.of("create unique index <new_perm> on orders (snowflake_id)")),
          rows(
              "inversion",
              Integer.toString(VerifierTest.BORDER),
              List.of(
                  key(
                      "-snowflake_id",
                      "id in (%d, %d)".formatted(VerifierTest.BORDER - 1, VerifierTest.BORDER)),
                  key(
                      "(select -p.snowflake_id from orders p where p.id = %d - orders.id)"
                          .formatted(2 * VerifierTest.BORDER - 1),
                      "id in (%d, %d)".formatted(VerifierTest.BORDER - 1, VerifierTest.BORDER))),
              List.of(
                  """
                  update coatcheck.alias a set token = b.token from coatcheck.alias b
                   where a.type_id = <type> and b.type_id = <type>
                     and (a.value, b.value) in (('%1$d', '%2$d'), ('%2$d', '%1$d'))\
                  """
                      .formatted(VerifierTest.BORDER - 1, VerifierTest.BORDER))),
          rows("missing_mapping", "100", List.of(), unpublish(100)),
          new Corruption(
              "missing_mapping",
              List.of(LOWEST),
              List.of("insert into orders (id) values (%s)".formatted(LOWEST)),
              List.of(),
              List.of("delete from orders where id = " + LOWEST)),
          gateway(
              "wrong_mapping",
              "101",
              "update coatcheck.public_id set key = -key where token ="
                  + " (select token from coatcheck.alias where "
                  + ALIAS
                  + "'101')"),
          gateway("missing_alias", "102", "delete from coatcheck.alias where " + ALIAS + "'102'"),
          gateway(
              "wrong_alias",
              "103",
              "update coatcheck.alias set token = (select token from coatcheck.alias where "
                  + ALIAS
                  + "'104') where "
                  + ALIAS
                  + "'103'"),
          rows(
              "key_time",
              "205",
              "update orders set created_at = created_at + interval '1 ms' where id = 205"),
          rekeyed("snowflake_id - (3600000::bigint << 22)"),
          rekeyed("snowflake_id + (7200000::bigint << 22)"),
          new Corruption(
              "constraint_not_validated",
              List.of("filled"),
              List.of(
                  "alter table orders add constraint <filled>"
                      + " check (snowflake_id is not null) not valid"),
              List.of(),
              List.of("alter table orders drop constraint <filled>")),
          new Corruption(
              "index_invalid",
              List.of("new_perm"),
              List.of(
                  "drop index <beside_new_perm>",
                  "!create unique index concurrently <new_perm> on orders (text)"),
              List.of(),
              List.of(
                  "drop index <beside_new_perm>",
                  "create unique index <new_perm> on orders (snowflake_id)")),
          new Corruption(
              "sequence_cache",
              List.of("mint_seq"),
              List.of("alter sequence <mint_seq> cache 32"),
              List.of(),
              List.of("alter sequence <mint_seq> cache 1")),
          new Corruption(
              "trigger_missing",
              List.of("~coatcheck_inserted"),
              List.of("alter table orders disable trigger <t_inserted>"),
              List.of(),
              List.of("alter table orders enable always trigger <t_inserted>")),
          new Corruption(
              "trigger_missing",
              List.of("~coatcheck_insert"),
              List.of("alter table orders enable trigger <t_insert>"),
              List.of(),
              List.of("alter table orders enable always trigger <t_insert>")),
          new Corruption(
              "trigger_missing",
              List.of("~coatcheck_truncate"),
              List.of("drop trigger <t_truncate> on orders"),
              List.of(),
              List.of(
                  "create trigger <t_truncate> before truncate on <table>"
                      + " for each statement execute function <on_refused>()",
                  "alter table orders enable always trigger <t_truncate>")),
          rows("archive_conflict", "25", "update <archive> set key = key + 1 where legacy = 25"));

  private static Corruption rows(String code, String id, String... source) {
    return rows(code, id, List.of(source), List.of());
  }

  private static Corruption rows(
      String code, String id, List<String> source, List<String> gateway) {
    return new Corruption(code, List.of(id), source, gateway, List.of());
  }

  private static Corruption gateway(String code, String id, String... gateway) {
    return rows(code, id, List.of(), List.of(gateway));
  }

  /** A row of the trigger, whose mapping is made anew. */
  private static Corruption rekeyed(String key) {
    String row = "id = " + (VerifierTest.ROWS + 1);
    return rows(
        "key_time",
        Integer.toString(VerifierTest.ROWS + 1),
        List.of(
            key(key, row),
            "insert into <outbox_a> (legacy, key) select id, snowflake_id from orders where "
                + row),
        unpublish(VerifierTest.ROWS + 1));
  }

  private static List<String> unpublish(int id) {
    String alias = ALIAS + "'" + id + "'";
    return List.of(
        "delete from coatcheck.public_id where token ="
            + " (select token from coatcheck.alias where "
            + alias
            + ")",
        "delete from coatcheck.alias where " + alias);
  }

  private static String key(String key, String where) {
    return "update orders set snowflake_id = " + key + " where " + where;
  }

  String text() {
    return code + " of " + String.join(" and ", named);
  }
}

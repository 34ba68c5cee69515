package dev.coatcheck.source;

import dev.coatcheck.db.*;
import java.util.*;

final class InventoryStore {
  private final Database db;

  InventoryStore(Database db) {
    this.db = db;
  }

  Inspection inspect(Wish w) {
    return db.read(
        "x",
        sql -> {
          long oid =
              PlainSql.rows(
                      sql,
                      "select c.oid from pg_class c join pg_namespace n on n.oid=c.relnamespace"
                          + " where n.nspname=? and c.relname=?",
                      r -> r.getLong(1),
                      w.schema(),
                      w.table())
                  .getFirst();
          long rows =
              PlainSql.rows(
                      sql,
                      "select count(*) from " + new TableName(w.schema(), w.table()).quoted(),
                      r -> r.getLong(1))
                  .getFirst();
          return new Inspection.Sound(
              new TableShape(
                  oid,
                  "id",
                  "bigint",
                  w.createdAtColumn().map(c -> new Target.TimeColumn(c, "timestamptz")),
                  rows,
                  rows,
                  1,
                  0,
                  List.of(),
                  List.of()));
        });
  }
}

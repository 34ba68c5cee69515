package dev.coatcheck.ids.alias;

import static dev.coatcheck.postgres.sql.schema.Tables.ERASED_ALIAS;
import static org.jooq.impl.DSL.condition;

import dev.coatcheck.postgres.sql.Unnest;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jooq.Condition;
import org.jooq.DSLContext;

/** The hashes of names that belonged to erased public IDs, for use inside transactions. */
public final class ErasedAliasTable {
  /** So few are looked up at once. For more, it is cheaper to know first whether any is erased. */
  private static final int FEW_NAMES = 100;

  private ErasedAliasTable() {}

  static void insert(DSLContext sql, List<Alias> names) {
    sql.execute(
        "insert into {0} (type_id, hash) select * from unnest({1}, {2}) on conflict do nothing",
        ERASED_ALIAS, Unnest.integers(names, Alias::typeNumber), Unnest.uuids(names, Alias::hash));
  }

  /**
   * Whether one of the names is of an erased public ID. Asked after they were written: a name can
   * be erased while its insert waits for that.
   */
  public static boolean isAny(DSLContext sql, List<Alias> names) {
    return !names.isEmpty()
        && (names.size() <= FEW_NAMES || isAnyOfTypes(sql, names))
        && sql.fetchExists(ERASED_ALIAS, isOneOf(names));
  }

  /** Those of the names that belonged to erased public IDs. */
  public static Set<Alias> of(DSLContext sql, List<Alias> names) {
    if (names.isEmpty() || !isAnyOfTypes(sql, names)) {
      return Set.of();
    }
    Set<UUID> hashes =
        sql.select(ERASED_ALIAS.HASH)
            .from(ERASED_ALIAS)
            .where(isOneOf(names))
            .fetchSet(ERASED_ALIAS.HASH);
    return names.stream().filter(name -> hashes.contains(name.hash())).collect(Collectors.toSet());
  }

  private static Condition isOneOf(List<Alias> names) {
    return condition(
        "(type_id, hash) in (select * from unnest({0}, {1}))",
        Unnest.integers(names, Alias::typeNumber), Unnest.uuids(names, Alias::hash));
  }

  private static boolean isAnyOfTypes(DSLContext sql, List<Alias> names) {
    return sql.fetchExists(
        ERASED_ALIAS,
        ERASED_ALIAS.TYPE_ID.in(names.stream().map(Alias::typeNumber).collect(Collectors.toSet())));
  }
}

package dev.coatcheck.ids.pin;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.PinnedKeyTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/** The transactions of pins. */
final class PinStore {
  private static final int LOCK_MILLIS = 800;

  private final Database database;

  PinStore(Database database) {
    this.database = database;
  }

  /**
   * Writes the rows that are missing.
   *
   * @throws LostRace to be tried again
   */
  PinOutcome pin(Type type, String sealKey, List<StoredMapping> rows, Actor actor) {
    return database.write("pin", sql -> pin(sql, type, sealKey, rows, actor));
  }

  private static PinOutcome pin(
      DSLContext sql, Type type, String sealKey, List<StoredMapping> rows, Actor actor) {
    Set<Long> locks =
        rows.stream().map(row -> MintRequest.keyLock(type, row.key())).collect(Collectors.toSet());
    if (!IdempotencyTable.lock(sql, locks, LOCK_MILLIS).refused().isEmpty()) {
      return new PinOutcome.Busy();
    }
    List<TypedKey> subjects = rows.stream().map(row -> subject(type, row)).distinct().toList();
    Map<TypedKey, Token> pinned = PinnedKeyTable.tokens(sql, subjects);
    Map<TypedKey, StoredMapping> minted = PublicIdTable.byKey(sql, subjects);
    Map<Token, StoredMapping> present =
        PublicIdTable.byTokens(
                sql,
                MappingTable.of(KeyKind.BIGINT),
                rows.stream().map(StoredMapping::token).distinct().toList())
            .stream()
            .collect(Collectors.toMap(StoredMapping::token, Function.identity()));
    List<Integer> conflicts = new ArrayList<>();
    Map<TypedKey, Token> wanted = new HashMap<>();
    Set<StoredMapping> missing = new HashSet<>();
    int before = 0;
    for (int i = 0; i < rows.size(); i++) {
      StoredMapping row = rows.get(i);
      TypedKey subject = subject(type, row);
      StoredMapping own = present.get(row.token());
      StoredMapping other = minted.get(subject);
      if (pinned.containsKey(subject)) {
        before++;
      } else if (isAnother(row, own) || isAnother(row, other)) {
        conflicts.add(i);
      } else {
        wanted.put(subject, row.token());
        if (own == null) {
          missing.add(row);
        }
      }
    }
    if (!PublicIdTable.insertSealed(sql, missing)) {
      throw new LostRace("row");
    }
    PinnedKeyTable.insert(sql, wanted);
    if (!wanted.isEmpty()) {
      AuditTable.append(
          sql, actor, "era.pin", type.name(), Map.of("seal_key", sealKey, "keys", wanted.size()));
      ChangeTable.append(sql, ChangeKind.ENDING, List.of(Resolver.IMPORTED));
    }
    return new PinOutcome.Pinned(wanted.size(), before, conflicts);
  }

  /** Whether a row that is there is not the one that the seal key tells: erased, or another's. */
  private static boolean isAnother(StoredMapping wanted, @Nullable StoredMapping there) {
    return there != null
        && (there.isErased()
            || there.typeNumber() != wanted.typeNumber()
            || !there.key().equals(wanted.key())
            || !there.token().equals(wanted.token()));
  }

  /** The key with the bucket that it has without a seal key. */
  private static TypedKey subject(Type type, StoredMapping row) {
    return new TypedKey(type.number(), row.key(), type.salt().bucketOf(row.key()));
  }
}

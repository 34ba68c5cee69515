package dev.coatcheck.ids.ending;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasTable;
import dev.coatcheck.ids.mapping.EndingTable;
import dev.coatcheck.ids.mapping.IdText.OfToken;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.PinnedKeyTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.GroupCommit;
import dev.coatcheck.postgres.group.GroupCommit.Attempt;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/** The transactions of erasures. */
final class ErasureStore {
  /** How many public IDs may be merged into one that is erased with them. */
  static final int MERGED_MAX = 1_000;

  private final Database database;

  ErasureStore(Database database) {
    this.database = database;
  }

  /**
   * A request to erase a public ID.
   *
   * @param cascade whether those that were merged into it are erased too
   */
  record Call(OfToken id, boolean cascade, Actor actor) implements GroupCommit.Call {
    /** Each has its own transaction: the number of its rows is not known before. */
    @Override
    public boolean isBatch() {
      return true;
    }
  }

  /**
   * @param aliases that are no more
   * @param tokens that were erased now
   */
  record Done(EraseOutcome outcome, List<Alias> aliases, List<Token> tokens) {
    static Done of(EraseOutcome outcome) {
      return new Done(outcome, List.of(), List.of());
    }
  }

  /**
   * Erases in one transaction. Locks rows without waiting, as an ending does; its last statements
   * wait for the head of the change feed.
   *
   * @throws dev.coatcheck.postgres.sql.LockTimeout if the change feed was not available in time;
   *     nothing was done
   */
  Attempt<Done> erase(Call call, int lockMillisMax) {
    return database.write("erase", sql -> erase(sql, call, lockMillisMax));
  }

  private static Attempt<Done> erase(DSLContext sql, Call call, int lockMillisMax) {
    Type type = call.id().type();
    MappingTable<?> table = MappingTable.of(type.keyKind());
    EndingTable.look(sql, Set.of(), lockMillisMax);
    List<StoredMapping> own = PublicIdTable.lock(sql, table, Set.of(call.id().token()));
    if (own.isEmpty()) {
      return PublicIdTable.byTokens(sql, table, List.of(call.id().token())).isEmpty()
          ? new Attempt.Done<>(Done.of(new EraseOutcome.Unissued(new ResolveOutcome.Unknown())))
          : new Attempt.Held<>();
    }
    if (own.getFirst().typeNumber() != type.number()) {
      return new Attempt.Done<>(Done.of(new EraseOutcome.Unissued(new ResolveOutcome.Unknown())));
    }
    if (own.getFirst().isErased()) {
      return new Attempt.Done<>(Done.of(new EraseOutcome.Erased(known(sql, call.id()))));
    }
    // No other one can be merged into it now: a merge locks the survivor.
    List<Token> merged =
        ErasureTable.mergedInto(sql, type, call.id().token().toUuid(), MERGED_MAX + 1).stream()
            .map(Token::of)
            .toList();
    if (!merged.isEmpty() && !call.cascade()) {
      return new Attempt.Done<>(Done.of(new EraseOutcome.Survivor(merged.size())));
    }
    if (merged.size() > MERGED_MAX) {
      return new Attempt.Done<>(Done.of(new EraseOutcome.TooManyMerged()));
    }
    List<StoredMapping> others = PublicIdTable.lock(sql, table, merged);
    if (others.size() < merged.size()) {
      return new Attempt.Held<>();
    }
    List<StoredMapping> rows = Stream.concat(own.stream(), others.stream()).toList();
    return new Attempt.Done<>(
        sealed(type, rows).map(Done::of).orElseGet(() -> erase(sql, call, rows)));
  }

  /**
   * Why one of the rows can't be erased: without it, its seal key would give the key its public ID
   * again. Asks the keys, for which no seal key is needed.
   */
  private static Optional<EraseOutcome> sealed(Type type, List<StoredMapping> rows) {
    if (rows.stream().anyMatch(row -> type.sealingOf(row.key()).isPresent())) {
      return Optional.of(new EraseOutcome.Sealed());
    }
    return type.sealing().stream()
        .flatMap(sealing -> rows.stream().flatMap(row -> sealing.closedEraOf(row.token()).stream()))
        .<EraseOutcome>map(era -> new EraseOutcome.SealKeyKept(era.fingerprint()))
        .findFirst();
  }

  private static Done erase(DSLContext sql, Call call, List<StoredMapping> rows) {
    Type type = call.id().type();
    PinnedKeyTable.delete(
        sql,
        rows.stream()
            .filter(row -> type.isOfClosedEra(row.key()))
            .map(row -> TypedKey.of(type, row.key()))
            .toList());
    ErasureTable.erase(sql, type, rows);
    List<Token> tokens = rows.stream().map(StoredMapping::token).toList();
    Map<Token, List<Alias>> named = AliasTable.erase(sql, type, tokens);
    if (type.keyKind() == KeyKind.BIGINT) {
      ErasureTable.insertTasks(sql, type, rows, named);
    }
    List<Alias> aliases = named.values().stream().flatMap(List::stream).toList();
    Erasure erasure = known(sql, call.id());
    List<String> erased =
        rows.stream().map(row -> new PublicId(type.prefix(), row.token()).toString()).toList();
    AuditTable.append(
        sql,
        List.of(
            AuditEntry.of(
                call.actor(),
                "id.erase",
                erased,
                Map.of("merged", erased.subList(1, erased.size())))));
    ChangeTable.append(
        sql, ChangeKind.ALIAS, aliases.stream().map(Alias::subjectOfChange).toList());
    ChangeTable.append(
        sql, ChangeKind.ENDING, rows.stream().map(row -> row.id().subjectOfChange()).toList());
    return new Done(new EraseOutcome.Erased(erasure), aliases, tokens);
  }

  /** The erasure of a public ID; empty if it isn't erased. */
  Optional<Erasure> find(OfToken id) {
    return database.read("erasure", sql -> find(sql, id));
  }

  private static Erasure known(DSLContext sql, OfToken id) {
    return requireNonNull(find(sql, id).orElse(null), "erased without an erasure");
  }

  private static Optional<Erasure> find(DSLContext sql, OfToken id) {
    return ErasureTable.find(sql, id.type(), id.token().toUuid())
        .map(
            progress ->
                new Erasure(
                    id.type(),
                    id.publicId(),
                    progress.erasedAt(),
                    progress.completeAt(),
                    progress.waitsFor()));
  }
}

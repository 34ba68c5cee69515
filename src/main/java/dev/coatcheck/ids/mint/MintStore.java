package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasTable;
import dev.coatcheck.ids.alias.ErasedAliasTable;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.mint.MintPlan.NewName;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** All SQL of mints. */
final class MintStore {
  private final Database database;
  private final Observer observer;

  MintStore(Database database, Observer observer) {
    this.database = database;
    this.observer = observer;
  }

  /**
   * Writes the rows of calls without names, in one statement that commits itself and is never sent
   * twice; false, and nothing is written, if a generated key or a token is taken.
   */
  boolean insertAllOrNone(List<MintTarget> targets) {
    if (targets.isEmpty()) {
      return true;
    }
    try {
      return database.writeAlone(
          "mint",
          sql -> {
            MintTable.insertAllOrNone(sql, targets);
            return true;
          });
    } catch (DataAccessException failed) {
      if (SqlState.isUniqueViolation(failed)) {
        return false;
      }
      throw failed;
    }
  }

  /** The same, but a row whose key is taken stays unwritten. */
  void insertUnlessTaken(List<MintTarget> targets) {
    database
        .writeAlone("mint", sql -> MintTable.insert(sql, targets))
        .forEach(this::generatedInVain);
  }

  /** Does the work in one transaction, and again if Postgres rolled it back. */
  <T> T transaction(Function<Statements, T> work) {
    return database.write("mint", sql -> work.apply(new Statements(sql)));
  }

  /** The statements of one transaction, in their order. */
  final class Statements {
    private final DSLContext sql;
    private long part;

    private Statements(DSLContext sql) {
      this.sql = sql;
    }

    /**
     * Locks the names of the calls, finds the answers given before, and reads the rows of names.
     *
     * @param lockMillisMax how long to wait for a row that another transaction is about to write
     */
    KnownRows look(MintTransaction calls, int lockMillisMax) {
      IdempotencyTable.Locks locks = IdempotencyTable.lock(sql, calls.locks(), lockMillisMax);
      part = locks.part();
      calls.leaveOut(locks.refused());
      calls.replay(IdempotencyTable.find(sql, part, calls.idempotencyKeys()));
      return MintTable.known(sql, calls.lookedUp());
    }

    /** Aliases come before rows in every transaction: half of the order that avoids deadlocks. */
    void write(MintPlan plan, boolean isAtomic) {
      List<NewName> names = plan.newNames();
      if (!PublicIdTable.hold(sql, plan.namedRows())) {
        throw new LostRace("row");
      }
      if (!names.isEmpty()) {
        List<Alias> aliases = names.stream().map(NewName::alias).toList();
        List<Token> tokens = names.stream().map(name -> name.target().token()).toList();
        if (AliasTable.insert(sql, aliases, tokens) != names.size()
            || ErasedAliasTable.isAny(sql, aliases)) {
          throw new LostRace("alias");
        }
      }
      List<MintTarget> missing = MintTable.insert(sql, plan.newRows());
      if (!missing.isEmpty()) {
        readBack(missing, isAtomic);
      }
    }

    /** Keeps the answers of calls with an Idempotency-Key. */
    void record(List<IdempotencyTable.Entry> answers) {
      IdempotencyTable.keep(sql, part, answers);
    }

    private void readBack(List<MintTarget> missing, boolean isAtomic) {
      Map<TypedKey, StoredMapping> present =
          PublicIdTable.byKey(sql, missing.stream().map(MintTarget::subject).toList());
      for (MintTarget target : missing) {
        StoredMapping row = present.get(target.subject());
        if (row == null) {
          throw new LostRace("token"); // another key has it already: 2^-118 a try
        }
        if (target.isGenerated()) {
          generatedInVain(target);
        }
        if (isAtomic || target.isGenerated() || target.isLookedUp()) {
          throw new LostRace("key");
        }
        target.found(row);
      }
    }
  }

  private void generatedInVain(MintTarget target) {
    observer.observe(
        new Event.GeneratedKeyConflict(target.type().name(), target.subject().key().text()));
  }
}

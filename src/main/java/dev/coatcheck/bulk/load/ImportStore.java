package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.ErasedAliasTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mint.KnownRows;
import dev.coatcheck.ids.mint.MintPlan;
import dev.coatcheck.ids.mint.MintPlan.NewName;
import dev.coatcheck.ids.mint.MintTable;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Copy;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Writes an import, on a connection of its own that ends with it. A chunk is one transaction, and
 * its rows travel by COPY.
 */
final class ImportStore implements AutoCloseable {
  private final DatabaseSettings settings;
  private final Observer observer;
  private final ImportAudit audit;
  private Optional<Session> session = Optional.empty();
  private boolean isStartAudited;

  /** Connects when the first chunk is there: a sender may take its time. */
  ImportStore(DatabaseSettings settings, Observer observer, ImportAudit audit) {
    this.settings = settings;
    this.observer = observer;
    this.audit = audit;
  }

  @Override
  public void close() {
    session.ifPresent(Session::close);
  }

  /** The rows to write, encoded. */
  record Encoded(ImportPlan plan, CopyBatch batch) {
    static Encoded of(ImportPlan plan) {
      return new Encoded(plan, CopyBatch.of(plan.mints()));
    }
  }

  /**
   * Inserts all of it, or nothing.
   *
   * @return empty if a key, a token or a legacy ID is there already, or comes twice
   */
  Optional<ImportPlan> insert(Chunk chunk, Encoded encoded) {
    return written(chunk, _ -> encoded);
  }

  /**
   * Reads the stored rows, plans, and inserts the planned rows.
   *
   * @return empty if another transaction inserted one of them meanwhile
   */
  Optional<ImportPlan> insertBeside(Chunk chunk, Function<KnownRows, ImportPlan> planner) {
    return written(chunk, sql -> Encoded.of(planner.apply(MintTable.known(sql, chunk.requests()))));
  }

  private Optional<ImportPlan> written(Chunk chunk, Function<DSLContext, Encoded> work) {
    try {
      Encoded written =
          write(
              sql -> {
                Encoded encoded = work.apply(sql);
                copy(sql, encoded.plan().mints(), encoded.batch());
                auditStart(sql, encoded.batch());
                announce(sql, chunk.bringsTokens());
                return encoded;
              });
      isStartAudited |= !written.batch().parts().isEmpty();
      return Optional.of(written.plan());
    } catch (LostRace erased) {
      return Optional.empty();
    } catch (DataAccessException refused) {
      if (SqlState.isUniqueViolation(refused)) {
        return Optional.empty();
      }
      throw refused;
    }
  }

  /** An import that changes nothing has no entry, so it starts with the first row that is new. */
  private void auditStart(DSLContext sql, CopyBatch batch) {
    if (!isStartAudited && !batch.parts().isEmpty()) {
      AuditTable.append(sql, List.of(audit.start()));
    }
  }

  /**
   * Audits the end, if the start is audited.
   *
   * @param outcome in a word
   */
  void auditFinish(RowSummary summary, String outcome) {
    if (isStartAudited) {
      boolean _ =
          write(
              sql -> {
                AuditTable.append(sql, List.of(audit.finish(summary, outcome)));
                return true;
              });
    }
  }

  private <T> T write(Function<DSLContext, T> work) {
    if (session.isEmpty()) {
      session = Optional.of(Session.openForRequest(settings, "coatcheck import", observer));
    }
    return session
        .get()
        .write(
            "import",
            sql -> {
              sql.execute("set local statement_timeout = '60s'");
              sql.execute("set local lock_timeout = '30s'");
              return work.apply(sql);
            });
  }

  /** Public IDs from elsewhere may have been resolved before, and be cached as unknown. */
  private static void announce(DSLContext sql, boolean bringsTokens) {
    if (bringsTokens) {
      ChangeTable.append(sql, ChangeKind.ENDING, List.of(Resolver.IMPORTED));
    }
  }

  /**
   * @throws LostRace if one of its aliases belongs to an erased public ID, or a row that gets an
   *     alias has ended
   */
  static void copy(DSLContext sql, MintPlan plan, CopyBatch batch) {
    if (!PublicIdTable.hold(sql, plan.namedRows())) {
      throw new LostRace("row");
    }
    for (CopyBatch.Part part : batch.parts()) {
      Copy.in(sql, part.copy(), part.rows().bytes(), part.rows().length());
    }
    if (ErasedAliasTable.isAny(sql, plan.newNames().stream().map(NewName::alias).toList())) {
      throw new LostRace("alias");
    }
  }
}

package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.mint.KnownRows;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintPlan;
import dev.coatcheck.ids.mint.MintTarget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * The rows to write for a chunk, and the refused rows.
 *
 * @param counts public IDs by the names of types
 */
record ImportPlan(MintPlan mints, List<RowError> errors, Map<String, Count> counts) {

  /** Public IDs of one type. */
  record Count(int created, int existing) {
    Count plus(Count more) {
      return new Count(created + more.created, existing + more.existing);
    }
  }

  /** Treats every row as new, which is right for most files; needs no look-up. */
  static ImportPlan ofNew(Chunk chunk, IntFunction<Token> tokens) {
    ImportPlan plan = new ImportPlan(new MintPlan(KnownRows.NONE), List.of(), new HashMap<>());
    for (int i = 0; i < chunk.rows().size(); i++) {
      plan.create(plan.mints.addUnseen(chunk.rows().get(i).request()), chunk, i, tokens);
    }
    return plan;
  }

  /** Judges every row by the stored rows and the rows before it. */
  static ImportPlan of(Chunk chunk, KnownRows known, IntFunction<Token> tokens) {
    ImportPlan plan = new ImportPlan(new MintPlan(known), new ArrayList<>(), new HashMap<>());
    for (int i = 0; i < chunk.rows().size(); i++) {
      ImportRow row = chunk.rows().get(i);
      switch (plan.mints.add(row.request())) {
        case MintPlan.Entry.Sound(MintTarget target, boolean isNew) when isNew ->
            plan.create(target, chunk, i, tokens);
        case MintPlan.Entry.Sound _ -> plan.count(row, 0, 1);
        case MintPlan.Entry.Refused(MintOutcome.AliasTaken _) ->
            plan.errors.add(new RowError(row.line(), RowFault.ALIAS_CONFLICT));
        case MintPlan.Entry.Refused(MintOutcome.Ended _) ->
            plan.errors.add(new RowError(row.line(), RowFault.ID_ENDED));
        case MintPlan.Entry.Refused(MintOutcome.Erased _) ->
            plan.errors.add(new RowError(row.line(), RowFault.ID_ERASED));
        case MintPlan.Entry.Refused(MintOutcome.TypeRetired _) ->
            plan.errors.add(new RowError(row.line(), RowFault.TYPE_RETIRED));
        case MintPlan.Entry.TokenTaken _ ->
            plan.errors.add(new RowError(row.line(), RowFault.PUBLIC_ID_CONFLICT));
      }
    }
    return plan;
  }

  /** Whether each row of the chunk gets a public ID of its own. */
  boolean isAllNew(Chunk chunk) {
    return mints.newTargets().size() == chunk.rows().size();
  }

  private void create(MintTarget target, Chunk chunk, int row, IntFunction<Token> tokens) {
    chunk.drawn(row).ifPresent(target::generate);
    target.create(tokens, chunk.rows().get(row).createdAt());
    count(chunk.rows().get(row), 1, 0);
  }

  private void count(ImportRow row, int created, int existing) {
    counts.merge(row.request().type().name(), new Count(created, existing), Count::plus);
  }
}

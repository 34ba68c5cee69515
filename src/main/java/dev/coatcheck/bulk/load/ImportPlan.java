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
 * What is written for the rows of a chunk, and the rows that are refused.
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

  /** Judges every row by the stored rows and the rows before it. */
  static ImportPlan of(Chunk chunk, KnownRows known, IntFunction<Token> tokens) {
    ImportPlan plan = new ImportPlan(new MintPlan(known), new ArrayList<>(), new HashMap<>());
    for (int i = 0; i < chunk.rows().size(); i++) {
      ImportRow row = chunk.rows().get(i);
      switch (plan.mints.add(row.request())) {
        case MintPlan.Entry.Sound(MintTarget target, boolean isNew) -> {
          if (isNew) {
            chunk.drawn(i).ifPresent(target::generate);
            target.create(tokens, row.createdAt());
          }
          plan.counts.merge(
              row.request().type().name(), new Count(isNew ? 1 : 0, isNew ? 0 : 1), Count::plus);
        }
        case MintPlan.Entry.Refused(MintOutcome.AliasTaken _) ->
            plan.errors.add(new RowError(row.line(), RowFault.ALIAS_CONFLICT));
        case MintPlan.Entry.Refused(MintOutcome.Ended _) ->
            plan.errors.add(new RowError(row.line(), RowFault.ID_ENDED));
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
}

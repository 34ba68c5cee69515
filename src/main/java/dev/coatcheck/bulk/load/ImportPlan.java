package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.ids.mint.KnownRows;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintPlan;
import dev.coatcheck.ids.mint.MintTarget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

  /**
   * Treats every row as new, which is right for most files; needs no look-up.
   *
   * @throws KeysUnavailable if there are no keys for the rows that bring none
   */
  static ImportPlan ofNew(Chunk chunk, Importer.MintingTools tools) {
    ImportPlan plan = new ImportPlan(new MintPlan(KnownRows.NONE), List.of(), new HashMap<>());
    Map<Integer, MintTarget> created = new LinkedHashMap<>();
    for (int i = 0; i < chunk.rows().size(); i++) {
      created.put(i, plan.mints.addUnseen(chunk.rows().get(i).request()));
    }
    plan.create(created, chunk, tools);
    return plan;
  }

  /**
   * Judges every row by the stored rows and the rows before it.
   *
   * @throws KeysUnavailable if there are no keys for the new rows that bring none
   */
  static ImportPlan of(Chunk chunk, KnownRows known, Importer.MintingTools tools) {
    ImportPlan plan = new ImportPlan(new MintPlan(known), new ArrayList<>(), new HashMap<>());
    Map<Integer, MintTarget> created = new LinkedHashMap<>();
    for (int i = 0; i < chunk.rows().size(); i++) {
      ImportRow row = chunk.rows().get(i);
      switch (plan.mints.add(row.request())) {
        case MintPlan.Entry.Sound(MintTarget target, boolean isNew) when isNew ->
            created.put(i, target);
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
    plan.create(created, chunk, tools);
    return plan;
  }

  /** Whether each row of the chunk gets a public ID of its own. */
  boolean isAllNew(Chunk chunk) {
    return mints.newTargets().size() == chunk.rows().size();
  }

  private void create(Map<Integer, MintTarget> created, Chunk chunk, Importer.MintingTools tools) {
    chunk.drawKeys(created.keySet(), tools);
    created.forEach(
        (row, target) -> {
          chunk.drawn(row).ifPresent(target::generate);
          target.create(tools.tokens()::next, chunk.rows().get(row).createdAt());
          count(chunk.rows().get(row), 1, 0);
        });
  }

  private void count(ImportRow row, int created, int existing) {
    counts.merge(row.request().type().name(), new Count(created, existing), Count::plus);
  }
}

package dev.coatcheck.migrate.verify;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.migrate.verify.Findings.Promise;
import dev.coatcheck.migrate.verify.RowStore.Row;
import dev.coatcheck.postgres.sql.Database;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The {@link Verifier} of a table without legacy IDs: each row's key must have a public ID, and a
 * row's legacy ID in the archive must resolve to that public ID too. Changes nothing.
 */
public final class ContractedVerifier {
  private static final int ROWS = 2_000;
  private static final int WAITS_MAX = 20;

  /** The primary key and its foreign keys ensure the others. */
  private static final Set<Promise> LOOKED_AT =
      EnumSet.of(
          Promise.MISSING_MAPPING,
          Promise.WRONG_MAPPING,
          Promise.MISSING_ALIAS,
          Promise.WRONG_ALIAS,
          Promise.CONSTRAINT_NOT_VALIDATED,
          Promise.INDEX_INVALID,
          Promise.SEQUENCE_CACHE,
          Promise.TRIGGER_MISSING);

  /** The triggers that remain after contract. */
  private static final List<String> TRIGGERS = List.of("insert", "inserted", "update");

  private final ContractedStore rows;
  private final ObjectStore objects;
  private final PublishedStore gateway;
  private final Outbox outbox;

  /**
   * Verifies one table.
   *
   * @param outbox its own, for the same thread
   * @throws dev.coatcheck.migrate.source.ObjectsGone if the table is gone
   */
  public ContractedVerifier(
      SourceSession source, Database gateway, Target target, Type type, Outbox outbox) {
    this.rows = new ContractedStore(source.session(), target);
    this.objects = new ObjectStore(source.session(), target);
    this.gateway = new PublishedStore(gateway, type);
    this.outbox = outbox;
  }

  /**
   * Checks all rows that exist at the start.
   *
   * @param goOn asked before each range
   * @return empty if the verification was stopped
   */
  public Optional<Report> run(BooleanSupplier goOn) {
    Findings findings = new Findings();
    findings.add(Promise.CONSTRAINT_NOT_VALIDATED, rows.constraintsNotValidated());
    findings.add(Promise.INDEX_INVALID, objects.invalidIndexes());
    findings.add(Promise.SEQUENCE_CACHE, objects.cachedSequences());
    findings.add(Promise.TRIGGER_MISSING, objects.triggersOff(TRIGGERS));
    long looked = 0;
    long last = rows.lastKey().orElse(Long.MIN_VALUE);
    for (long after = Long.MIN_VALUE; after < last; ) {
      List<Long> keys = rows.keys(after, last, ROWS);
      if (!goOn.getAsBoolean()) {
        return Optional.empty();
      }
      if (keys.isEmpty()) {
        break;
      }
      List<String> missing = unmapped(keys).stream().map(key -> "key " + key).toList();
      findings.add(Promise.MISSING_MAPPING, missing);
      looked += keys.size();
      after = keys.getLast();
    }
    return legacy(findings, goOn)
        ? Optional.of(findings.report(looked, LOOKED_AT))
        : Optional.empty();
  }

  /** False if the verification was stopped. */
  private boolean legacy(Findings findings, BooleanSupplier goOn) {
    // Rows with IDs below 1 have no mappings: they are found by their keys.
    List<Row> page = rows.archived(0, ROWS);
    while (!page.isEmpty()) {
      if (!goOn.getAsBoolean()) {
        return false;
      }
      List<PublishedStore.Published> known = gateway.published(page);
      for (int i = 0; i < page.size(); i++) {
        Promise broken = Verifier.broken(known.get(i));
        if (broken != null && broken != Promise.MISSING_MAPPING) {
          findings.add(broken, page.get(i));
        }
      }
      page = rows.archived(page.getLast().legacy(), ROWS);
    }
    return true;
  }

  /** The keys without a public ID whose rows still exist after the outbox was drained. */
  private List<Long> unmapped(List<Long> keys) {
    List<Long> missing = gateway.unmapped(keys);
    for (int waited = 0; waited < WAITS_MAX && !missing.isEmpty(); waited++) {
      boolean isBrought = outbox.drain().entries() == 0 && !rows.isWaiting(missing);
      missing = gateway.unmapped(rows.present(missing));
      if (isBrought) {
        break;
      }
    }
    return missing;
  }
}

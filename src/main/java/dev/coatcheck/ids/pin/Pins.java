package dev.coatcheck.ids.pin;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Pins keys of sealed types: writes rows for them, so that their public IDs resolve once the era is
 * closed. A thief of the seal key makes public IDs that have no row, and so are unknown once the
 * era is closed. Pinning a key again changes nothing.
 */
public final class Pins {
  public static final int KEYS_MAX = 1_000;

  private static final int TRIES_MAX = 3;

  private final PinStore store;
  private final InstantSource clock;

  public Pins(Database database, InstantSource clock) {
    this.store = new PinStore(database);
    this.clock = clock;
  }

  /**
   * Pins keys of an era, open or closed.
   *
   * @param sealKey fingerprint of the seal key of the era
   * @param keys at most {@value #KEYS_MAX}
   * @throws SealKeyMissing if this instance lacks the seal key; nothing was done
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; sending the
   *     same again settles it
   */
  public PinOutcome pin(Type type, String sealKey, List<Long> keys, Actor actor) {
    Optional<Sealing.Era> era = type.sealing().flatMap(sealing -> sealing.eraWith(sealKey));
    if (era.isEmpty()) {
      return new PinOutcome.EraUnknown();
    }
    Sealing sealing = type.sealing().get();
    Instant now = clock.instant();
    List<StoredMapping> rows = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      long key = keys.get(i);
      if (!sealing.isOfEra(key)
          || !sealing.eraOf(key).equals(era.get())
          || sealing.isTooFarAhead(key, now)) {
        return new PinOutcome.NotOfEra(i);
      }
      Token token = sealing.seal(key).orElseThrow(() -> new SealKeyMissing(sealKey));
      rows.add(StoredMapping.opened(type, sealing, key, token));
    }
    for (int tried = 1; tried <= TRIES_MAX; tried++) {
      try {
        return store.pin(type, sealKey, rows, actor);
      } catch (LostRace again) {
        // One of the public IDs ended meanwhile, and so has a row now.
      }
    }
    return new PinOutcome.Busy();
  }
}

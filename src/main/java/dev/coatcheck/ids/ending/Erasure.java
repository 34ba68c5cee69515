package dev.coatcheck.ids.ending;

import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A public ID that was erased.
 *
 * @param waitsFor names of the sources that have not yet deleted what they have of it
 */
public record Erasure(
    Type type, PublicId id, Instant erasedAt, Instant knownEnd, List<String> waitsFor) {
  public Erasure {
    waitsFor = List.copyOf(waitsFor);
  }

  /** From when on nothing of it is stored; empty while a source is waited for. */
  public Optional<Instant> completeAt() {
    return waitsFor.isEmpty() ? Optional.of(knownEnd) : Optional.empty();
  }
}

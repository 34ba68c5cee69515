package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import java.time.Instant;

/** A row that is about to be inserted, unless its subject has one already. */
record NewMapping(TypedKey subject, Token token) {

  public StoredMapping insertedAt(Instant createdAt) {
    return new StoredMapping(
        subject.key(), token, subject.typeNumber(), createdAt, Mapping.Status.ACTIVE);
  }
}

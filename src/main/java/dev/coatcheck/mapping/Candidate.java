package dev.coatcheck.mapping;

import dev.coatcheck.id.Token;
import java.time.Instant;
import java.util.function.IntFunction;

/** A row that is about to be inserted, unless its subject has one already. */
record Candidate(Subject subject, Token token) {

  static Candidate draw(Subject subject, IntFunction<Token> drawToken) {
    return new Candidate(subject, drawToken.apply(subject.bucket()));
  }

  StoredMapping insertedAt(Instant createdAt) {
    return new StoredMapping(
        subject.key(), token, subject.typeNumber(), createdAt, Mapping.Status.ACTIVE);
  }
}

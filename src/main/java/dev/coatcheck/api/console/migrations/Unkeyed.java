package dev.coatcheck.api.console.migrations;

import dev.coatcheck.ids.idempotency.IdempotentResult;

/** Calls of pages, which have no Idempotency-Key. */
final class Unkeyed {
  private Unkeyed() {}

  static <T> T outcome(IdempotentResult<T> result) {
    if (result instanceof IdempotentResult.Unkeyed<T>(T outcome)) {
      return outcome;
    }
    throw new IllegalStateException("no Idempotency-Key was sent");
  }
}

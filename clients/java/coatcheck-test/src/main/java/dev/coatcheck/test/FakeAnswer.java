package dev.coatcheck.test;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An answer with a JSON object, or an entry of a batch.
 *
 * @param isReplayed whether an earlier call with the Idempotency-Key did the work
 */
record FakeAnswer(int status, Map<String, @Nullable Object> body, boolean isReplayed) {
  FakeAnswer(int status, Map<String, @Nullable Object> body) {
    this(status, body, false);
  }

  static FakeAnswer problem(int status, String code, String detail) {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("type", "/docs/errors#" + code);
    body.put("title", code.replace('_', ' '));
    body.put("status", status);
    body.put("detail", detail);
    body.put("code", code);
    return new FakeAnswer(status, body);
  }

  FakeAnswer with(String field, @Nullable Object value) {
    Map<String, @Nullable Object> more = new LinkedHashMap<>(body);
    more.put(field, value);
    return new FakeAnswer(status, more);
  }

  FakeAnswer replayed() {
    return new FakeAnswer(status, body, true);
  }

  /** Whether it is final, so that an Idempotency-Key keeps it. */
  boolean isKept() {
    return status < 300 || status == 409 || status == 410 || status == 422;
  }

  /** As an entry of a batch. */
  Map<String, @Nullable Object> entry(int index) {
    Map<String, @Nullable Object> entry = new LinkedHashMap<>();
    entry.put("index", index);
    entry.put("status", status);
    entry.put(status < 300 ? "public_id" : "error", body);
    return entry;
  }
}

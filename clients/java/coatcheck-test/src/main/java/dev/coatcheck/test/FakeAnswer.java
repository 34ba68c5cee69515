package dev.coatcheck.test;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An answer with a JSON object, or an entry of a batch. */
record FakeAnswer(int status, Map<String, @Nullable Object> body) {
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

  /** As an entry of a batch. */
  Map<String, @Nullable Object> entry(int index) {
    Map<String, @Nullable Object> entry = new LinkedHashMap<>();
    entry.put("index", index);
    entry.put("status", status);
    entry.put(status < 300 ? "public_id" : "error", body);
    return entry;
  }
}

package dev.coatcheck.spring;

import dev.coatcheck.id.Key;
import dev.coatcheck.jackson.KeyTexts;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * The keys of one answer: first they are collected while the body is written to nowhere, then they
 * have texts. Belongs to one request, and is used by the thread that writes its answer.
 */
final class BodyKeys {
  /** The attribute of the request. */
  static final String ATTRIBUTE = BodyKeys.class.getName();

  private final Set<Key<?>> keys = new LinkedHashSet<>();
  private @Nullable Map<Key<?>, String> texts;

  /** What is written for a key: only the answer to a request may have keys. */
  static String textOf(Key<?> key) {
    RequestAttributes request = RequestContextHolder.getRequestAttributes();
    Object known =
        request == null ? null : request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
    return known instanceof BodyKeys body ? body.collectOrGet(key) : KeyTexts.none().textOf(key);
  }

  /** In the order of the body. */
  Set<Key<?>> collected() {
    return keys;
  }

  void complete(Map<Key<?>, String> known) {
    texts = known;
  }

  private String collectOrGet(Key<?> key) {
    Map<Key<?>, String> known = texts;
    if (known == null) {
      keys.add(key);
      return key.text();
    }
    String text = known.get(key);
    if (text == null) {
      throw new IllegalStateException(
          "The body changed while it was written: a key of "
              + key.type().getName()
              + " was not in it before.");
    }
    return text;
  }
}

package dev.coatcheck.jackson;

import dev.coatcheck.id.Key;

/**
 * What stands in JSON for a key: the text of its public ID. Called on the thread that writes the
 * JSON, once for each key that is written, so it must not ask a gateway key by key.
 */
@FunctionalInterface
public interface KeyTexts {
  /**
   * The text to write.
   *
   * @param key a key of the application's database
   * @return the text of its public ID
   * @throws IllegalStateException if there is none; then no JSON is written
   */
  String textOf(Key<?> key);

  /**
   * Refuses all keys, so that none leaves the application by mistake.
   *
   * @return what the modules use if they are given nothing else
   */
  static KeyTexts none() {
    return key -> {
      throw new IllegalStateException(
          "A key of "
              + key.type().getName()
              + " must not leave the application. Write its PublicId instead.");
    };
  }
}

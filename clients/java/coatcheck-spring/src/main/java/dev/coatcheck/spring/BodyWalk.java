package dev.coatcheck.spring;

import org.jspecify.annotations.Nullable;

/** Writes a body as JSON to nowhere, as it will be written to the client. */
@FunctionalInterface
interface BodyWalk {
  /**
   * Finds the keys that the body shows.
   *
   * @param view of the {@code JsonView} that limits the body, or none
   */
  void walk(Object body, @Nullable Class<?> view);
}

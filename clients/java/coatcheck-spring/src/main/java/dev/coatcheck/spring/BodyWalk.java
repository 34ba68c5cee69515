package dev.coatcheck.spring;

/** Writes a body as JSON to nowhere, as it will be written to the client. */
@FunctionalInterface
interface BodyWalk {
  void walk(Object body);
}

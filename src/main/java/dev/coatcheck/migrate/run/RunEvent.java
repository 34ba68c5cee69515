package dev.coatcheck.migrate.run;

import java.time.Instant;

/**
 * Something that happened to a run.
 *
 * @param number rises by one within a run, in the order of commits
 * @param actor a principal, or the instance that runs it
 */
public record RunEvent(long number, Instant at, String actor, String kind, String detail) {}

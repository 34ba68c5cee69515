package dev.coatcheck.mapping;

/** What became of another name for a thing. */
public sealed interface AliasOutcome {

  record Added() implements AliasOutcome {}

  /** The thing had this name before. */
  record Present() implements AliasOutcome {}

  /** It is the name of another thing, which may have ended. */
  record Taken() implements AliasOutcome {}
}

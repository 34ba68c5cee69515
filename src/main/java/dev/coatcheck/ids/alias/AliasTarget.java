package dev.coatcheck.ids.alias;

import dev.coatcheck.core.id.Token;

/** What an alias stands for. */
public sealed interface AliasTarget {

  /** A public ID of the type of the alias; it may have ended. */
  record Issued(Token token) implements AliasTarget {}

  /** A public ID that was erased. No other one is ever given this alias. */
  record Erased() implements AliasTarget {}
}

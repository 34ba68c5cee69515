package dev.coatcheck.ids.pattern;

import dev.coatcheck.core.id.Prefix;
import java.util.BitSet;

/**
 * A regular expression of public IDs of an older system. It matches whole texts, minds case, and
 * takes time in proportion to the text: a set of states in the pattern moves along it, nothing is
 * ever tried again. The same set tells whether any text of a given shape could match.
 */
public final class PublicPattern {
  static final int LENGTH_MAX = 200;

  /** Longer texts never match. */
  private static final int TEXT_LENGTH_MAX = 255;

  private static final BitSet BASE62 = base62();
  private static final int BODY_LENGTH = 24;

  private final String text;
  private final PatternStates states;

  private PublicPattern(String text, PatternStates states) {
    this.text = text;
    this.states = states;
  }

  /** A parsed pattern, or a sentence that says why it was refused. */
  public sealed interface Parsed {
    record Accepted(PublicPattern pattern) implements Parsed {}

    record Refused(String reason) implements Parsed {}
  }

  /** Accepts a pattern that can't match a public ID of ours with the prefix. */
  public static Parsed parse(String text, Prefix prefix) {
    if (text.isEmpty() || text.length() > LENGTH_MAX) {
      return new Parsed.Refused("A pattern has 1 to 200 characters.");
    }
    try {
      PublicPattern pattern = new PublicPattern(text, PatternParser.parse(text));
      if (pattern.matches("")) {
        return new Parsed.Refused("The pattern matches the empty text.");
      }
      return pattern.canMatchOurs(prefix)
          ? new Parsed.Refused(
              "The pattern matches public IDs of this type. Write a pattern that matches only the"
                  + " IDs of the older system.")
          : new Parsed.Accepted(pattern);
    } catch (PatternParser.NotUnderstood refused) {
      return new Parsed.Refused(refused.reason());
    }
  }

  /**
   * A pattern that was checked when it was registered.
   *
   * @throws IllegalStateException if it is none
   */
  public static PublicPattern stored(String text) {
    try {
      return new PublicPattern(text, PatternParser.parse(text));
    } catch (PatternParser.NotUnderstood refused) {
      throw new IllegalStateException("stored public pattern: " + refused.reason(), refused);
    }
  }

  /** Whether the whole text is one that the pattern describes. */
  public boolean matches(String candidate) {
    if (candidate.length() > TEXT_LENGTH_MAX) {
      return false;
    }
    PatternStates.Walk walk = states.walk();
    for (int i = 0; i < candidate.length() && walk.isAlive(); i++) {
      walk.step(candidate.charAt(i));
    }
    return walk.isAtEnd();
  }

  /** The pattern as it was registered. */
  @Override
  public String toString() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PublicPattern that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** Whether some text of the prefix, an underscore and 24 base62 characters matches. */
  private boolean canMatchOurs(Prefix prefix) {
    PatternStates.Walk walk = states.walk();
    (prefix.value() + "_").chars().forEach(c -> walk.step((char) c));
    for (int i = 0; i < BODY_LENGTH; i++) {
      walk.stepAny(BASE62);
    }
    return walk.isAtEnd();
  }

  private static BitSet base62() {
    BitSet set = new BitSet();
    set.set('0', '9' + 1);
    set.set('A', 'Z' + 1);
    set.set('a', 'z' + 1);
    return set;
  }
}

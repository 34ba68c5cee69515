package dev.coatcheck.ids.pattern;

import dev.coatcheck.ids.pattern.PatternStates.Part;
import java.util.BitSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the regular expressions of {@link PublicPattern}: literals, {@code .}, classes, {@code \d}
 * and {@code \w}, groups, {@code |}, and {@code * + ? {n} {n,} {n,m}}. Nothing that would need to
 * remember a part of the text, no flags, visible ASCII only.
 *
 * <p>A counted part is read again for each time it may occur, so that the limit on states bounds
 * the work as well: each reading makes at least one state, because no part may be empty by itself.
 */
final class PatternParser {
  private static final Pattern COUNT =
      Pattern.compile("\\{(0|[1-9][0-9]{0,2})(,(0|[1-9][0-9]{0,2})?)?\\}");
  private static final String SPECIAL = "()[]{}*+?|^$\\.";
  private static final char VISIBLE_FIRST = 0x21;
  private static final char VISIBLE_LAST = 0x7e;

  private final String text;
  private final PatternStates states = new PatternStates();
  private int at;
  private int depth;
  private boolean topLevelAlternatives;

  private PatternParser(String text) {
    this.text = text;
  }

  /** A pattern that is none of ours; the reason is a sentence for the caller. */
  static final class NotUnderstood extends Exception {
    private static final long serialVersionUID = 1L;
    private final String reason;

    NotUnderstood(String reason) {
      super(reason, null, false, false);
      this.reason = reason;
    }

    String reason() {
      return reason;
    }
  }

  /** One ^ in front and one $ at the end say what holds anyway. */
  static PatternStates parse(String pattern) throws NotUnderstood {
    if (!pattern.chars().allMatch(c -> c >= VISIBLE_FIRST && c <= VISIBLE_LAST)) {
      throw new NotUnderstood("A pattern holds visible ASCII characters only.");
    }
    boolean closed = pattern.endsWith("$") && !pattern.endsWith("\\$");
    PatternParser parser =
        new PatternParser(
            pattern.substring(
                pattern.startsWith("^") ? 1 : 0, pattern.length() - (closed ? 1 : 0)));
    Part whole = parser.alternatives();
    if (parser.at < parser.text.length()) {
      throw new NotUnderstood("A closing parenthesis has no opening one.");
    }
    if ((pattern.startsWith("^") || closed) && parser.topLevelAlternatives) {
      throw new NotUnderstood("With ^ or $, put the alternatives into a group: ^(a|b)$.");
    }
    return parser.states.finished(whole);
  }

  private Part alternatives() throws NotUnderstood {
    Part part = sequence();
    while (has('|')) {
      topLevelAlternatives |= depth == 0;
      at++;
      part = states.either(part, sequence());
    }
    return part;
  }

  private Part sequence() throws NotUnderstood {
    Part part = counted();
    while (at < text.length() && !has('|') && !has(')')) {
      part = states.sequence(part, counted());
    }
    return part;
  }

  private Part counted() throws NotUnderstood {
    int start = at;
    Part part = single();
    if (at == text.length()) {
      return part;
    }
    return switch (text.charAt(at)) {
      case '*' -> next(states.optional(states.repeated(part)));
      case '+' -> next(states.repeated(part));
      case '?' -> next(states.optional(part));
      case '{' -> times(start, part);
      default -> part;
    };
  }

  private Part next(Part part) {
    at++;
    return part;
  }

  private Part times(int start, Part once) throws NotUnderstood {
    Matcher count = COUNT.matcher(text).region(at, text.length());
    if (!count.lookingAt()) {
      throw new NotUnderstood("A count looks like {2}, {2,} or {2,4}, with numbers up to 999.");
    }
    int end = count.end();
    int least = Integer.parseInt(count.group(1));
    boolean open = count.group(2) != null && count.group(3) == null;
    int most = count.group(3) == null ? least : Integer.parseInt(count.group(3));
    if (most < least || (most == 0 && !open)) {
      throw new NotUnderstood(
          "The second number of a count is greater than 0 and not less than the first.");
    }
    Part all = least == 0 ? states.optional(once) : once;
    Part last = once;
    for (int time = 2; time <= Math.max(most, least); time++) {
      at = start;
      last = single();
      all = states.sequence(all, time > least ? states.optional(last) : last);
    }
    if (open) {
      var _ = states.repeated(last);
    }
    at = end;
    return all;
  }

  private Part single() throws NotUnderstood {
    if (at == text.length() || "|)*+?{".indexOf(text.charAt(at)) >= 0) {
      throw new NotUnderstood("A part of the pattern is empty; use ? for an optional part.");
    }
    if (text.charAt(at) == '(') {
      return group();
    }
    if (states.isFull()) {
      throw new NotUnderstood("With its counts written out the pattern has over 512 characters.");
    }
    return states.state(characters());
  }

  private Part group() throws NotUnderstood {
    at += text.startsWith("(?:", at) ? 3 : 1;
    depth++;
    Part part = alternatives();
    depth--;
    if (!has(')')) {
      throw new NotUnderstood("A parenthesis is not closed.");
    }
    return next(part);
  }

  private BitSet characters() throws NotUnderstood {
    char c = text.charAt(at);
    if (c == '[') {
      return characterClass();
    }
    if (c == '\\') {
      return escaped();
    }
    if (c == '.') {
      at++;
      return range(VISIBLE_FIRST, VISIBLE_LAST);
    }
    if (SPECIAL.indexOf(c) >= 0) {
      throw new NotUnderstood("A special character stands alone; write \\ before it.");
    }
    at++;
    return range(c, c);
  }

  private BitSet characterClass() throws NotUnderstood {
    at++;
    boolean negated = has('^');
    at += negated ? 1 : 0;
    BitSet set = new BitSet();
    while (at < text.length() && !has(']')) {
      BitSet from = has('\\') ? escaped() : plain();
      if (has('-') && at + 1 < text.length() && text.charAt(at + 1) != ']') {
        at++;
        BitSet to = has('\\') ? escaped() : plain();
        if (from.cardinality() != 1 || to.cardinality() != 1 || to.length() < from.length()) {
          throw new NotUnderstood("A range in a class goes from one character up to another.");
        }
        from.set(from.length() - 1, to.length());
      }
      set.or(from);
    }
    if (!has(']') || set.isEmpty()) {
      throw new NotUnderstood("A class is empty or not closed.");
    }
    at++;
    if (negated) {
      set.flip(VISIBLE_FIRST, VISIBLE_LAST + 1);
    }
    return set;
  }

  private BitSet plain() throws NotUnderstood {
    char c = text.charAt(at);
    if (c == '[' || c == '^') {
      throw new NotUnderstood("In a class, write \\ before [ and ^.");
    }
    at++;
    return range(c, c);
  }

  private BitSet escaped() throws NotUnderstood {
    at++;
    if (at == text.length()) {
      throw new NotUnderstood("A \\ stands at the end.");
    }
    char c = text.charAt(at++);
    if (c == 'd') {
      return range('0', '9');
    }
    if (c == 'w') {
      BitSet word = range('0', '9');
      word.or(range('A', 'Z'));
      word.or(range('a', 'z'));
      word.set('_');
      return word;
    }
    if (Character.isLetterOrDigit(c)) {
      throw new NotUnderstood("Of letters only \\d and \\w have a meaning after \\.");
    }
    return range(c, c);
  }

  private boolean has(char c) {
    return at < text.length() && text.charAt(at) == c;
  }

  private static BitSet range(char first, char last) {
    BitSet set = new BitSet();
    set.set(first, last + 1);
    return set;
  }
}

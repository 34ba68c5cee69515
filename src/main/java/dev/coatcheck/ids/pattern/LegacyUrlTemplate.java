package dev.coatcheck.ids.pattern;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A path of an application's URLs, and which of its segments are legacy IDs of which type: {@code
 * /customers/{legacy:customer}/orders/{legacy:order}}. {@code {*}} is a segment of any text.
 *
 * <p>A path fits if it has as many segments and the same literal ones. In a path that fits, a
 * segment at a placeholder is a legacy ID if it is a number; any other text there is left as it is,
 * so that {@code /orders/new} and URLs with public IDs fit as well and mean what they meant.
 */
public final class LegacyUrlTemplate {
  private static final int LENGTH_MAX = 1_024;
  private static final String LEGACY_START = "{legacy:";
  private static final String ANY = "{*}";

  /** What a URL may hold unencoded in a segment, without what starts a suffix of a segment. */
  private static final Pattern LITERAL = Pattern.compile("[0-9A-Za-z._~!$&'()*+,=:@-]+");

  private static final Pattern TYPE_NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  private final String text;
  private final List<Segment> segments;

  private LegacyUrlTemplate(String text, List<Segment> segments) {
    this.text = text;
    this.segments = List.copyOf(segments);
  }

  /** What a segment of a path has to be. */
  private sealed interface Segment {
    record Literal(String text) implements Segment {}

    record LegacyId(String typeName) implements Segment {}

    record Any() implements Segment {}

    default boolean fits(String segment) {
      return !(this instanceof Literal(String literal)) || literal.equals(segment);
    }
  }

  /** A parsed template, or a sentence's end that says why it was refused. */
  public sealed interface Parsed {
    record Accepted(LegacyUrlTemplate template) implements Parsed {}

    /**
     * Not accepted.
     *
     * @param reason ends the sentence "The URL template …"; a fixed text
     */
    record Refused(String reason) implements Parsed {}
  }

  /** Accepts a path of plain segments and placeholders, one of them for a legacy ID. */
  public static Parsed parse(String text) {
    if (text.length() > LENGTH_MAX) {
      return new Parsed.Refused("is longer than 1,024 characters");
    }
    if (!text.startsWith("/")) {
      return new Parsed.Refused("must be a path that starts with a slash, without a host");
    }
    List<Segment> segments = new ArrayList<>();
    for (String part : text.substring(1).split("/", -1)) {
      Optional<Segment> segment = segment(part);
      if (segment.isEmpty()) {
        return new Parsed.Refused(
            "has a segment that is neither plain text nor {legacy:TYPE} nor {*}. Write each segment"
                + " decoded, without a query, dot segments, empty segments and a slash at the end");
      }
      segments.add(segment.get());
    }
    return segments.stream().anyMatch(Segment.LegacyId.class::isInstance)
        ? new Parsed.Accepted(new LegacyUrlTemplate(text, segments))
        : new Parsed.Refused("has no legacy ID. Write {legacy:TYPE} where the path has it");
  }

  private static Optional<Segment> segment(String part) {
    if (part.equals(ANY)) {
      return Optional.of(new Segment.Any());
    }
    if (part.startsWith(LEGACY_START) && part.endsWith("}")) {
      String name = part.substring(LEGACY_START.length(), part.length() - 1);
      return Optional.of(name).filter(TYPE_NAME.asMatchPredicate()).map(Segment.LegacyId::new);
    }
    boolean isPlain = LITERAL.matcher(part).matches() && !part.equals(".") && !part.equals("..");
    return isPlain ? Optional.of(new Segment.Literal(part)) : Optional.empty();
  }

  /** How many segments a path needs to fit. */
  public int length() {
    return segments.size();
  }

  /** The types of its legacy IDs. */
  public Set<String> typeNames() {
    return segments.stream()
        .filter(Segment.LegacyId.class::isInstance)
        .map(segment -> ((Segment.LegacyId) segment).typeName())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Whether a path of this many segments, each decoded and in full, has the literal ones. */
  public boolean fits(List<String> path) {
    if (path.size() != segments.size()) {
      return false;
    }
    for (int i = 0; i < path.size(); i++) {
      if (!segments.get(i).fits(path.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** The type of the legacy ID that a segment may be. */
  public Optional<String> typeAt(int segment) {
    return segment < segments.size()
            && segments.get(segment) instanceof Segment.LegacyId(String typeName)
        ? Optional.of(typeName)
        : Optional.empty();
  }

  /** Whether a segment is the same text in each path that fits. */
  public boolean isLiteralAt(int segment) {
    return segment < segments.size() && segments.get(segment) instanceof Segment.Literal;
  }

  /**
   * Whether some path fits both, and one says of a number in it that it is a legacy ID where the
   * other says something else. So whichever of several templates is asked, the answer is the same.
   */
  public boolean contradicts(LegacyUrlTemplate other) {
    if (segments.size() != other.segments.size()) {
      return false;
    }
    boolean differs = false;
    for (int i = 0; i < segments.size(); i++) {
      Segment ours = segments.get(i);
      Segment theirs = other.segments.get(i);
      if (ours instanceof Segment.Literal
          && theirs instanceof Segment.Literal
          && !ours.equals(theirs)) {
        return false;
      }
      differs |= differ(ours, theirs) || differ(theirs, ours);
    }
    return differs;
  }

  private static boolean differ(Segment one, Segment other) {
    return one instanceof Segment.LegacyId
        && !one.equals(other)
        && !(other instanceof Segment.Literal(String literal) && !LooseNumber.is(literal));
  }

  /** The template as it was registered. */
  @Override
  public String toString() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LegacyUrlTemplate that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }
}

package dev.coatcheck.ids.url;

import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which segment of a path holds a key of which type: {@code
 * /customers/{customer}/charges/{charge}}.
 */
record UrlTemplate(List<Segment> segments) {
  private static final int LENGTH_MAX = 1_024;

  /** What a segment has to be. */
  sealed interface Segment {
    record Literal(String text) implements Segment {}

    /** A key of this type. */
    record Placeholder(String typeName) implements Segment {}
  }

  /** Empty unless it is a path whose segments are plain texts or placeholders, one at least. */
  static Optional<UrlTemplate> parse(String text) {
    if (text.length() > LENGTH_MAX || !text.startsWith("/")) {
      return Optional.empty();
    }
    List<Segment> segments = new ArrayList<>();
    boolean keyed = false;
    for (String part : text.substring(1).split("/", -1)) {
      boolean braced = part.startsWith("{") && part.endsWith("}");
      String name = braced ? part.substring(1, part.length() - 1) : part;
      if (braced ? !Type.isName(name) : !part.matches("[!-~&&[^{}?#\\\\]]*")) {
        return Optional.empty();
      }
      segments.add(braced ? new Segment.Placeholder(name) : new Segment.Literal(part));
      keyed |= braced;
    }
    return keyed ? Optional.of(new UrlTemplate(segments)) : Optional.empty();
  }

  /**
   * The slices of the keys in a path of this form, in the order of the placeholders.
   *
   * @param path the segments of the path, each up to what may follow a key in it
   * @param whole the same segments in full, as the URL has them
   */
  Optional<List<UrlSlice>> match(List<UrlSlice> path, List<String> whole) {
    if (path.size() != segments.size()) {
      return Optional.empty();
    }
    List<UrlSlice> slices = new ArrayList<>();
    for (int i = 0; i < segments.size(); i++) {
      switch (segments.get(i)) {
        case Segment.Literal(String text) -> {
          if (!text.equals(whole.get(i))) {
            return Optional.empty();
          }
        }
        case Segment.Placeholder _ -> slices.add(path.get(i));
      }
    }
    return Optional.of(slices);
  }

  List<String> typeNames() {
    return segments.stream()
        .filter(Segment.Placeholder.class::isInstance)
        .map(segment -> ((Segment.Placeholder) segment).typeName())
        .toList();
  }
}

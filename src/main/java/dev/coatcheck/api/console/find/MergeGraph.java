package dev.coatcheck.api.console.find;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A picture of the public IDs that were merged into a survivor: the survivor on top, the others
 * below it, each with a line to it.
 *
 * @param merged from top to bottom
 * @param hasMore whether more were merged than are drawn
 */
record MergeGraph(Box survivor, List<Box> merged, boolean hasMore) {
  private static final int CHARACTER_WIDTH = 8;
  private static final int PADDING = 12;
  private static final int INDENT = 28;
  private static final int BOX_HEIGHT = 30;
  private static final int ROW_HEIGHT = 40;

  /**
   * @param isAsked whether it is the one that was asked for
   */
  record Box(String id, int x, int y, int width, boolean isAsked) {
    int textX() {
      return x + PADDING;
    }

    int textY() {
      return y + 20;
    }

    int middleY() {
      return y + BOX_HEIGHT / 2;
    }

    private static Box of(String id, int x, int row, String asked) {
      return new Box(
          id,
          x,
          row * ROW_HEIGHT + 1,
          id.length() * CHARACTER_WIDTH + 2 * PADDING,
          id.equals(asked));
    }
  }

  /**
   * Draws up to {@code idsMax} merged public IDs, the one that was asked for among them.
   *
   * @param merged one more than are drawn, if there are more
   */
  static MergeGraph of(String survivor, List<String> merged, String asked, int idsMax) {
    List<String> drawn = new ArrayList<>(merged.subList(0, Math.min(merged.size(), idsMax)));
    if (!drawn.contains(asked) && !survivor.equals(asked)) {
      if (drawn.size() == idsMax) {
        drawn.removeLast();
      }
      drawn.add(asked);
    }
    List<Box> boxes = new ArrayList<>();
    for (String id : drawn) {
      boxes.add(Box.of(id, INDENT, boxes.size() + 1, asked));
    }
    return new MergeGraph(Box.of(survivor, 1, 0, asked), boxes, merged.size() > idsMax);
  }

  int width() {
    return Stream.concat(Stream.of(survivor), merged.stream())
            .mapToInt(box -> box.x() + box.width())
            .max()
            .orElse(0)
        + 1;
  }

  int height() {
    return merged.size() * ROW_HEIGHT + BOX_HEIGHT + 2;
  }

  /** Where the lines leave the survivor, to the right. */
  int lineX() {
    return INDENT / 2;
  }

  int lineFromY() {
    return BOX_HEIGHT + 1;
  }

  /** The picture in words. */
  String description() {
    return (merged.size() == 1 && !hasMore
            ? "1 public ID was merged into "
            : (hasMore ? "More than " : "") + merged.size() + " public IDs were merged into ")
        + survivor.id();
  }
}

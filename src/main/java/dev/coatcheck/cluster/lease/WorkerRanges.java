package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Which workers of each layout an instance may lease. Where any range is set, a layout without one
 * makes no keys: sets that operators declare disjoint are disjoint on every layout, also on those
 * that nobody thought of.
 */
public final class WorkerRanges {
  /** Both ends are inclusive. */
  public record Range(int first, int last) {
    static Range all(SnowflakeLayout layout) {
      return new Range(0, WorkerUses.shared(layout) - 1);
    }

    private boolean fits(SnowflakeLayout layout) {
      return first <= last && last < WorkerUses.shared(layout);
    }

    private boolean holds(int worker) {
      return first <= worker && worker <= last;
    }

    private boolean hasLeased(SnowflakeLayout layout) {
      return IntStream.rangeClosed(first, last)
          .anyMatch(worker -> WorkerUses.isLeased(layout, worker));
    }

    @Override
    public String toString() {
      return first + "-" + last;
    }
  }

  private static final Pattern ITEM =
      Pattern.compile("(?:(?<layout>[^=]+)=)?(?<first>[0-9]{1,7})-(?<last>[0-9]{1,7})");

  private static final Pattern PLACE =
      Pattern.compile("(?<region>[0-9]{1,4})/(?<datacentre>[0-9]{1,4})");

  private static final WorkerRanges UNLIMITED = new WorkerRanges(Map.of());

  /** Empty: any worker of any layout. */
  private final Map<SnowflakeLayout, Range> byLayout;

  private WorkerRanges(Map<SnowflakeLayout, Range> byLayout) {
    this.byLayout = Map.copyOf(byLayout);
  }

  /** Any worker of any layout. */
  public static WorkerRanges unlimited() {
    return UNLIMITED;
  }

  /**
   * Reads {@code default=0-499,wide-sequence=0-99}; a bare range is for the layout {@code default}.
   *
   * @param faults takes all that is wrong, each as the rest of a sentence that begins with the
   *     setting
   */
  public static WorkerRanges parse(String text, Consumer<String> faults) {
    Map<SnowflakeLayout, Range> byLayout = new HashMap<>();
    for (String item : text.split(",", -1)) {
      Matcher parts = ITEM.matcher(item.replace(" ", ""));
      if (!parts.matches()) {
        faults.accept(
            "has \"%s\", which is no range: write FIRST-LAST for layout default, or LAYOUT=FIRST-LAST, separated by commas"
                .formatted(item));
        continue;
      }
      Range range =
          new Range(Integer.parseInt(parts.group("first")), Integer.parseInt(parts.group("last")));
      layout(Optional.ofNullable(parts.group("layout")), faults)
          .ifPresent(
              layout -> {
                if (!range.fits(layout)) {
                  faults.accept(
                      "has %s, which is not within the workers %s of layout %s"
                          .formatted(range, Range.all(layout), layout.name()));
                }
                if (byLayout.put(layout, range) != null) {
                  faults.accept("has two ranges for layout " + layout.name());
                }
              });
    }
    return new WorkerRanges(byLayout);
  }

  /**
   * The same, and of the layout {@code regional} the workers of one place, read from {@code 2/1}:
   * region 2, datacentre 1. Like any range it leaves the layouts without a range no keys.
   *
   * @param faults as {@link #parse}
   */
  public WorkerRanges inPlace(String text, Consumer<String> faults) {
    SnowflakeLayout layout = SnowflakeLayout.REGIONAL;
    Matcher parts = PLACE.matcher(text);
    if (!parts.matches()) {
      faults.accept("has \"%s\", which is no place: write REGION/DATACENTRE".formatted(text));
      return this;
    }
    if (byLayout.containsKey(layout)) {
      faults.accept("gives layout " + layout.name() + " a place, which has a range already");
      return this;
    }
    try {
      int region = Integer.parseInt(parts.group("region"));
      int datacentre = Integer.parseInt(parts.group("datacentre"));
      int first = layout.worker(region, datacentre, 0);
      int last = first + (1 << layout.workerFields().getLast().bits()) - 1;
      Map<SnowflakeLayout, Range> more = new HashMap<>(byLayout);
      more.put(layout, new Range(first, Math.min(last, WorkerUses.shared(layout) - 1)));
      return new WorkerRanges(more);
    } catch (IllegalArgumentException tooLarge) {
      faults.accept("has \"%s\": %s".formatted(text, tooLarge.getMessage()));
      return this;
    }
  }

  private static Optional<SnowflakeLayout> layout(Optional<String> name, Consumer<String> faults) {
    try {
      return Optional.of(name.map(SnowflakeLayout::accepted).orElse(SnowflakeLayout.DEFAULT));
    } catch (IllegalArgumentException unknown) {
      faults.accept("has layout \"%s\": %s".formatted(name.orElse(""), unknown.getMessage()));
      return Optional.empty();
    }
  }

  /** Whether operators have named the layouts that there are. */
  boolean areLimited() {
    return !byLayout.isEmpty();
  }

  /** The workers of a layout that the instance may use; empty if there are none. */
  public Optional<Range> of(SnowflakeLayout layout) {
    return byLayout.isEmpty()
        ? Optional.of(Range.all(layout))
        : Optional.ofNullable(byLayout.get(layout));
  }

  /** The same; empty if none of them is leased. */
  public Optional<Range> leased(SnowflakeLayout layout) {
    return of(layout).filter(range -> range.hasLeased(layout));
  }

  /** Those of the layout's workers of keys for given times that the instance may use, in order. */
  public List<Integer> dated(SnowflakeLayout layout) {
    return of(layout).stream()
        .flatMap(range -> WorkerUses.dated(layout).stream().filter(range::holds))
        .toList();
  }
}

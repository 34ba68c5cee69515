package dev.coatcheck.core.scheme;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Snos for given times. The partition has no other writer, so a count of the used numbers per tick
 * is enough. If a tick is full, the next ticks are used.
 */
public final class DatedSnos {
  private static final Pattern LINE =
      Pattern.compile("tick=(?<tick>[0-9]{1,12}) used=(?<used>[0-9]{1,5})");

  private final SnoShare share;
  private final Map<Long, Integer> usedByTick = new HashMap<>();

  private DatedSnos(SnoShare share) {
    this.share = share;
  }

  public static String firstLine(SnoShare share) {
    return share + " given_times";
  }

  /** Parses a state: the first line, then what {@link Made#lines} returned, in order. */
  public static Optional<DatedSnos> parse(List<String> lines) {
    Optional<SnoShare> share =
        lines.stream()
            .findFirst()
            .flatMap(first -> SnoShare.startOf(first).filter(of -> first.equals(firstLine(of))));
    if (share.isEmpty()) {
      return Optional.empty();
    }
    DatedSnos snos = new DatedSnos(share.get());
    return lines.stream().skip(1).allMatch(snos::take) ? Optional.of(snos) : Optional.empty();
  }

  private boolean take(String line) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches()) {
      return false;
    }
    long tick = Long.parseLong(parts.group("tick"));
    int used = Integer.parseInt(parts.group("used"));
    if (tick >= SnoId.TICK_END
        || used > share.sequences().size()
        || used <= usedByTick.getOrDefault(tick, 0)) {
      return false;
    }
    usedByTick.put(tick, used);
    return true;
  }

  /**
   * New snos.
   *
   * @param lines to be added to the state before the first sno is given away
   */
  public record Made(List<SnoId> snos, List<String> lines) {
    public Made {
      snos = List.copyOf(snos);
      lines = List.copyOf(lines);
    }
  }

  /**
   * Generates snos that carry a time, or the next ticks if that one is full.
   *
   * @throws IllegalStateException if snos can't carry the time
   */
  public Made at(Instant time, int count, int metabyte) {
    List<SnoId> snos = new ArrayList<>(count);
    List<String> lines = new ArrayList<>();
    int room = share.sequences().size();
    for (long tick = SnoId.tickOf(time.toEpochMilli()); snos.size() < count; tick++) {
      if (tick < 0 || tick >= SnoId.TICK_END) {
        throw new IllegalStateException("snos carry times from 2010 to September 2079");
      }
      int used = usedByTick.getOrDefault(tick, 0);
      int end = Math.min(room, used + count - snos.size());
      for (int n = used; n < end; n++) {
        int sequence = share.sequences().first() + n;
        snos.add(new SnoId(tick, false, metabyte, share.partition(), sequence));
      }
      if (end > used) {
        usedByTick.put(tick, end);
        lines.add("tick=%d used=%d".formatted(tick, end));
      }
    }
    return new Made(snos, lines);
  }
}

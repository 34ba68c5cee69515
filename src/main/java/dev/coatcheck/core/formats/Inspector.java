package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds what a text can be. Parsing is strict: a text that no encoder of a format writes is
 * refused, with the reason. If a text can be several things, all are listed, the likeliest first.
 */
public final class Inspector {
  /** The format of our own public IDs. */
  public static final String PUBLIC_ID = "public_id";

  /** No format has longer IDs: a TypeID has at most 90 characters. */
  public static final int LENGTH_MAX = 90;

  private static final List<Format> TEXTS =
      List.of(
          new PublicIds(),
          new TypeId(),
          new Uuid(),
          new Ulid(),
          new Ksuid(),
          new TwelveBytes(),
          new Sno(),
          new RocketMq(),
          new Cuid(),
          new CosId());

  private Inspector() {}

  /**
   * What a text can be.
   *
   * @param candidates the likeliest first; equally likely ones in a fixed order
   * @param refusals formats whose shape the text has, and whose rules it breaks
   */
  public record Inspection(List<Candidate> candidates, List<Refusal> refusals) {
    public Inspection {
      candidates = List.copyOf(candidates);
      refusals = List.copyOf(refusals);
    }
  }

  /**
   * What a text can be at this time.
   *
   * @param own the Snowflake layouts of a gateway's own keys, named or custom
   */
  public static Inspection inspect(String text, Collection<SnowflakeLayout> own, Instant now) {
    if (text.length() > LENGTH_MAX) {
      return new Inspection(List.of(), List.of());
    }
    List<Candidate> candidates = new ArrayList<>();
    List<Refusal> refusals = new ArrayList<>();
    Stream.concat(TEXTS.stream(), Stream.of(new Numbers(own)))
        .flatMap(format -> format.read(text, now).stream())
        .forEach(
            reading -> {
              switch (reading) {
                case Candidate candidate -> candidates.add(candidate);
                case Refusal refusal -> refusals.add(refusal);
              }
            });
    if (candidates.isEmpty() && refusals.isEmpty()) {
      candidates.addAll(Cuid.second(text));
    }
    candidates.sort(Comparator.comparing(Candidate::certainty));
    return new Inspection(candidates, refusals);
  }
}

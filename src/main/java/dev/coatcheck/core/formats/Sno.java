package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Reveal;
import dev.coatcheck.core.scheme.SnoId;
import java.time.Instant;
import java.util.List;

/** Snos, see {@link SnoId}. */
final class Sno implements Format {
  @Override
  public List<Reading> read(String text, Instant now) {
    return SnoId.parse(text).map(id -> List.<Reading>of(candidate(id, now))).orElse(List.of());
  }

  private static Candidate candidate(SnoId id, Instant now) {
    return Candidate.of("sno", Format.byTime(id.time(), SnoId.EPOCH, now))
        .at(id.time())
        .with("tick_tock", id.isTock() ? 1 : 0)
        .with("metabyte", id.metabyte())
        .with("partition", id.partition())
        .with("sequence", id.sequence())
        .sortable()
        .revealing(Reveal.MACHINE, Reveal.VOLUME);
  }
}

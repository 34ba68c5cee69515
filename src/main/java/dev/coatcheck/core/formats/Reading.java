package dev.coatcheck.core.formats;

import dev.coatcheck.core.name.WireNamed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a format says about a text. */
public sealed interface Reading {
  /** The name of the format, such as {@code uuid.v7}. */
  String format();

  /** How strong the evidence for a format is. */
  enum Certainty implements WireNamed {
    /** The text has fixed marks or check characters, which hardly any other text has. */
    CERTAIN,
    /** The length, the alphabet, the format's other rules and the time fit. */
    LIKELY,
    /** The length and the alphabet fit, as they do for other formats. */
    POSSIBLE
  }

  /** A fact that an ID reveals to its readers. */
  enum Reveal implements WireNamed {
    CREATION_TIME,
    /** How many IDs are issued, from the distance between two of them. */
    VOLUME,
    MACHINE,
    /** A network address of the machine that issued the ID. */
    MACHINE_ADDRESS,
    PROCESS,
    /** The number of a user account or a group on the machine. */
    ACCOUNT
  }

  /** Why a text of the right shape is refused. */
  enum Flaw implements WireNamed {
    LENGTH,
    ALPHABET,
    OVERFLOW,
    PADDING,
    CHECK,
    PREFIX,
    VERSION
  }

  /**
   * The text is, or can be, an ID of the format.
   *
   * @param time when the ID was issued, if it tells
   * @param fields in the order of the bits, each a {@code Long}, or a {@code String} if it is no
   *     number or too large
   * @param isSortable whether the texts of the format sort by time
   */
  record Candidate(
      String format,
      Certainty certainty,
      Optional<Instant> time,
      Map<String, Object> fields,
      boolean isSortable,
      List<Reveal> reveals)
      implements Reading {
    public Candidate {
      fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
      reveals = List.copyOf(reveals);
    }

    static Candidate of(String format, Certainty certainty) {
      return new Candidate(format, certainty, Optional.empty(), Map.of(), false, List.of());
    }

    Candidate at(Instant moment) {
      return new Candidate(format, certainty, Optional.of(moment), fields, isSortable, reveals)
          .revealing(Reveal.CREATION_TIME);
    }

    Candidate with(String name, long value) {
      return withField(name, value);
    }

    Candidate with(String name, String value) {
      return withField(name, value);
    }

    private Candidate withField(String name, Object value) {
      Map<String, Object> more = new LinkedHashMap<>(fields);
      more.put(name, value);
      return new Candidate(format, certainty, time, more, isSortable, reveals);
    }

    Candidate sortable() {
      return new Candidate(format, certainty, time, fields, true, reveals);
    }

    Candidate revealing(Reveal... what) {
      List<Reveal> more = new ArrayList<>(reveals);
      more.addAll(List.of(what));
      return new Candidate(format, certainty, time, fields, isSortable, more);
    }

    /** The same with another format name and another field in front. */
    Candidate inside(String outer, String name, String value) {
      Map<String, Object> more = new LinkedHashMap<>();
      more.put(name, value);
      more.putAll(fields);
      return new Candidate(outer, certainty, time, more, isSortable, reveals);
    }

    Candidate that(Certainty other) {
      return new Candidate(format, other, time, fields, isSortable, reveals);
    }
  }

  /**
   * The text has the shape of the format but is not an ID of it.
   *
   * @param detail the rule that it breaks
   */
  record Refusal(String format, Flaw flaw, String detail) implements Reading {}
}

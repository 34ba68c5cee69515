package dev.coatcheck.core.formats;

import dev.coatcheck.core.name.WireNamed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a format says of a text. */
public sealed interface Reading {
  /** The name of the format, such as {@code uuid.v7}. */
  String format();

  /** How much of a text has to be so in its format. */
  enum Certainty implements WireNamed {
    /** Fixed marks or check characters, which hardly any other text has. */
    CERTAIN,
    /** Length, alphabet and what else the format asks for fit, and so does the time. */
    LIKELY,
    /** Length and alphabet fit, as they do for other formats. */
    POSSIBLE
  }

  /** A fact that an ID tells its readers. */
  enum Reveal implements WireNamed {
    CREATION_TIME,
    /** How many IDs are made, by the distance between two of them. */
    VOLUME,
    /** Which machine made the ID, by a number of its own. */
    MACHINE,
    /** A network address of the machine that made the ID. */
    MACHINE_ADDRESS,
    PROCESS,
    /** The number of a user account or group of the machine. */
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
   * @param time when the ID was made, if it says so
   * @param fields each a {@code Long}, or a {@code String} for what is no number or too large for
   *     one, in the order of the bits
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

    Candidate revealing(Reveal what) {
      List<Reveal> more = new ArrayList<>(reveals);
      more.add(what);
      return new Candidate(format, certainty, time, fields, isSortable, more);
    }

    /** The same with another name, in front of its fields another field. */
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
   * The text has the shape of the format, and isn't an ID of it.
   *
   * @param detail the rule that it breaks
   */
  record Refusal(String format, Flaw flaw, String detail) implements Reading {}
}

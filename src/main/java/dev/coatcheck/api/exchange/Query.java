package dev.coatcheck.api.exchange;

import io.javalin.http.Context;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The query of a request, with only the parameters of the operation, each at most once. */
public final class Query {
  /** A name that an answer may repeat. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]{1,64}");

  private static final Pattern BARE_PERCENT = Pattern.compile("%(?![0-9A-Fa-f]{2})");

  private static final int LIMIT_MAX = 100;
  private static final int LIMIT_DEFAULT = 20;
  private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}");
  private static final Pattern DAY = Pattern.compile("(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}");
  private static final Instant TIME_END = Instant.parse("9999-12-31T00:00:00Z");

  private final Map<String, List<String>> values;

  private Query(Map<String, List<String>> values) {
    this.values = values;
  }

  public static void none(Context ctx) {
    of(ctx);
  }

  /** Refuses any other parameter, and any that is repeated. */
  public static Query of(Context ctx, String... names) {
    Set<String> known = new TreeSet<>(List.of(names));
    requireEncoded(ctx.queryString(), known);
    Map<String, List<String>> values = ctx.queryParamMap();
    values.forEach(
        (name, given) -> {
          if (!known.contains(name)) {
            throw new Refusal(
                ProblemCode.PARAMETER_UNKNOWN,
                NAME.matcher(name).matches() ? name : "?",
                known.isEmpty()
                    ? "This operation has no query parameters."
                    : "The known parameters are " + String.join(", ", known) + ".");
          }
          if (given.size() > 1) {
            throw Refusal.ofParameter(name, "Send this parameter once.");
          }
        });
    return new Query(values);
  }

  /** Javalin leaves a malformed parameter out, or makes another text of it. */
  private static void requireEncoded(@Nullable String query, Set<String> known) {
    if (query == null || query.indexOf('%') < 0) {
      return;
    }
    for (String parameter : query.split("&", -1)) {
      if (!isEncoded(parameter)) {
        String name = parameter.split("=", 2)[0];
        throw Refusal.ofParameter(
            known.contains(name) ? name : "?",
            "The percent-encoding of this parameter is malformed, or not of UTF-8.");
      }
    }
  }

  private static boolean isEncoded(String parameter) {
    if (BARE_PERCENT.matcher(parameter).find()) {
      return false;
    }
    byte[] bytes =
        URLDecoder.decode(parameter, StandardCharsets.ISO_8859_1)
            .getBytes(StandardCharsets.ISO_8859_1);
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException notUtf8) {
      return false;
    }
  }

  /** As {@link #of}, for a form that browsers send with its empty fields, which are left out. */
  public static Query ofForm(Context ctx, String... names) {
    Map<String, List<String>> filled = new HashMap<>(of(ctx, names).values);
    filled.values().removeIf(given -> given.getFirst().isBlank());
    return new Query(filled);
  }

  public Optional<String> text(String name) {
    return Optional.ofNullable(values.get(name)).map(List::getFirst);
  }

  /** Whether a parameter is there, which has one value only. */
  public boolean is(String name, String value) {
    if (text(name).filter(sent -> !sent.equals(value)).isPresent()) {
      throw Refusal.ofParameter(name, "Send %s, or leave %s out.".formatted(value, name));
    }
    return text(name).isPresent();
  }

  /** A required parameter; {@code detail} asks for it. */
  public String needed(String name, String detail) {
    return text(name)
        .filter(text -> !text.isEmpty())
        .orElseThrow(() -> Refusal.ofParameter(name, detail));
  }

  /** False without the parameter. */
  public boolean bool(String name) {
    return switch (text(name).orElse("false")) {
      case "true" -> true;
      case "false" -> false;
      default -> throw Refusal.ofParameter(name, "This must be true or false.");
    };
  }

  public int integer(String name, int least, int most, int otherwise) {
    return text(name)
        .map(
            text ->
                number(text)
                    .filter(number -> number >= least && number <= most)
                    .map(Math::toIntExact)
                    .orElseThrow(
                        () ->
                            Refusal.ofParameter(
                                name,
                                "This must be an integer from " + least + " to " + most + ".")))
        .orElse(otherwise);
  }

  /** How many items a page of a list has. */
  public int limit() {
    return integer("limit", 1, LIMIT_MAX, LIMIT_DEFAULT);
  }

  /** A number as {@link #number(String)} reads it; {@code detail} refuses what is none. */
  public Optional<Long> number(String name, String detail) {
    return text(name)
        .map(text -> number(text).orElseThrow(() -> Refusal.ofParameter(name, detail)));
  }

  /** A time from the year 1970 on, as RFC 3339 writes it or in Unix seconds. */
  public Optional<Instant> time(String name) {
    return text(name).map(text -> time(name, text));
  }

  public Optional<LocalDate> day(String name) {
    return text(name).map(text -> day(name, text));
  }

  /** A decimal number of up to 18 digits, without a sign or leading zeros. */
  public static Optional<Long> number(String text) {
    return Optional.of(text).filter(NUMBER.asMatchPredicate()).map(Long::valueOf);
  }

  private static Instant time(String name, String text) {
    try {
      Instant time =
          number(text)
              .map(seconds -> Instant.ofEpochSecond(Math.min(seconds, TIME_END.getEpochSecond())))
              .orElseGet(() -> Instant.parse(text));
      if (!time.isBefore(Instant.EPOCH) && time.isBefore(TIME_END)) {
        return time;
      }
    } catch (DateTimeParseException malformed) {
      // refused below
    }
    throw Refusal.ofParameter(
        name,
        "Send a time such as 2026-01-31T12:00:00Z, or Unix seconds, from 1970-01-01 to"
            + " 9999-12-30.");
  }

  private static LocalDate day(String name, String text) {
    try {
      if (DAY.matcher(text).matches()) {
        return LocalDate.parse(text);
      }
    } catch (DateTimeParseException malformed) {
      // refused below
    }
    throw Refusal.ofParameter(name, "Send a day such as 2026-01-31.");
  }
}

package dev.coatcheck.api.server;

import dev.coatcheck.bulk.rows.RowFormat;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** What a request with a file of rows says of it. */
public final class RowsBody {
  /** The parameter that says how many refused rows are listed. */
  public static final String ERRORS_MAX = "errors_max";

  private static final int ERRORS_LISTED_MAX = 50_000;
  private static final int ERRORS_USUAL = 100;
  private static final int BYTES_DRAINED_MAX = 4 * 1024 * 1024;
  private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,5}");

  private RowsBody() {}

  /** By the content type; refuses another one, and one that is compressed. */
  public static RowFormat format(Context ctx) {
    String type = Optional.ofNullable(ctx.header("Content-Type")).orElse("");
    String encoding = ctx.header("Content-Encoding");
    String[] parts = type.toLowerCase(Locale.ROOT).split(";", 3);
    boolean plain =
        (encoding == null || encoding.equalsIgnoreCase("identity"))
            && (parts.length == 1
                || (parts.length == 2
                    && parts[1].strip().replace("\"", "").equals("charset=utf-8")));
    return Optional.of(parts[0].strip())
        .filter(_ -> plain)
        .flatMap(RowFormat::ofMediaType)
        .orElseThrow(
            () ->
                new Refusal(
                    Problem.of(
                        ProblemCode.UNSUPPORTED_MEDIA_TYPE,
                        "Send the body as Content-Type: text/csv or application/x-ndjson, in UTF-8,"
                            + " not compressed.")));
  }

  public static int errorsMax(Context ctx) {
    String text = ctx.queryParam(ERRORS_MAX);
    if (text == null) {
      return ERRORS_USUAL;
    }
    if (!NUMBER.matcher(text).matches() || Integer.parseInt(text) > ERRORS_LISTED_MAX) {
      throw Refusal.ofParameter(
          ERRORS_MAX, "This must be an integer from 0 to " + ERRORS_LISTED_MAX + ".");
    }
    return Integer.parseInt(text);
  }

  /** A client that is cut off while it sends may never see the answer. */
  public static void drain(InputStream body) throws IOException {
    body.skip(BYTES_DRAINED_MAX);
  }
}

package dev.coatcheck.api.exchange;

import dev.coatcheck.FuzzTexts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Headers and parameters of requests. */
public final class HeaderFuzz {
  private HeaderFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    boolean _ = ContentNegotiation.prefersHtml(List.of(text));
    ContentNegotiation.language(List.of(text, "de"), List.of("de", "en"))
        .filter(language -> !List.of("de", "en").contains(language))
        .ifPresent(
            language -> {
              throw new AssertionError("no language of ours: " + language);
            });
    var _ = RequestBody.mediaType(text, null);
    var _ = RequestBody.mediaType("application/json", text);
    Query.number(text).ifPresent(number -> FuzzTexts.requireSame(text, number.toString()));
    try {
      String _ = IdempotencyHeader.parse(text);
    } catch (Refusal refused) {
      String _ = refused.getMessage();
    }
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    FuzzTexts.write(
        arguments[0],
        "text/html;q=0.8,application/json;q=1,*/*;q=0.1",
        "de-CH-x-a,en;q=0.5,*;q=0",
        "application/json; charset=\"utf-8\"",
        "\"a \\\"quoted\\\\ key\"",
        "plain key",
        "900000000000000000");
  }
}

package dev.coatcheck.ids.url;

import static dev.coatcheck.FuzzTexts.requireSame;

import dev.coatcheck.FuzzTexts;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.LooseNumber;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.RedirectTemplate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** URLs, their templates, and the names and numbers in them. */
public final class UrlFuzz {
  private UrlFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (UrlParts.parse(text) instanceof UrlParts.Parsed.Valid(UrlParts parts)) {
      requireSame(text, parts.with(List.of(), List.of()));
      for (List<UrlSlice> slices : List.of(parts.segments(), parts.values())) {
        requireSame(
            text,
            parts.with(
                slices,
                slices.stream().map(slice -> text.substring(slice.start(), slice.end())).toList()));
      }
      var _ = parts.wholeSegments();
      var _ = parts.pathWithoutLastSlash();
    }
    var _ = RedirectTemplate.parse(text, RedirectHosts.any());
    var _ = LegacyUrlTemplate.parse(text);
    boolean _ = LooseNumber.is(text);
    LegacyNumber.parse(text).ifPresent(number -> requireSame(text, Long.toString(number)));
    var _ = Namespace.named(text);
    try {
      RedirectHosts _ = RedirectHosts.parse(text);
    } catch (IllegalArgumentException named) {
      String _ = named.getMessage();
    }
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    FuzzTexts.write(
        arguments[0],
        "https://shop.example:8443/charges/ch_4KIWSf8WvPNoQDBwStVIDYHU/refunds?ids=1,2%2C3&x",
        "/orders/00%34711.json;v=1?a=%e2%82%ac&b",
        "/charges/{legacy:charge}/{*}",
        "https://shop.example/{id}?key={key}",
        "4711",
        "+00 47\u200b11",
        "n:shop",
        "a.example,*.b.example,localhost");
  }
}

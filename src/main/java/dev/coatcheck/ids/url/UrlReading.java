package dev.coatcheck.ids.url;

import dev.coatcheck.ids.redirect.IdOutcome;
import dev.coatcheck.ids.registry.Type;
import java.util.List;

/** What a URL holds, for people who ask why it is answered as it is. */
public sealed interface UrlReading {

  /** No proxy is told anything else. */
  record Refused(UrlOutcome.Refused outcome) implements UrlReading {}

  /**
   * It can be read.
   *
   * @param requestUri path and query, as a proxy sends them
   * @param templates the URL templates that its path fits
   * @param parts its IDs, in its order
   */
  record Sound(String requestUri, List<String> templates, List<Part> parts) implements UrlReading {
    public Sound {
      templates = List.copyOf(templates);
      parts = List.copyOf(parts);
    }
  }

  /** An ID of the URL. */
  sealed interface Part {
    /** As the URL has it, decoded. */
    String text();
  }

  record PublicId(String text, IdOutcome outcome) implements Part {}

  /** A number or an older public ID of the type, where a URL template has one or by its prefix. */
  record LegacyId(String text, Type type, IdOutcome outcome) implements Part {}

  /** A number where a URL template has a legacy ID, in another spelling than its only one. */
  record MalformedLegacyId(String text) implements Part {}
}

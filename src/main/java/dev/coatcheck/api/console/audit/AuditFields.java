package dev.coatcheck.api.console.audit;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.exchange.Query;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The filters of the audit as they were filled in, by their names; without those left empty. */
record AuditFields(Map<String, String> filled) {
  static final String PATH = Section.AUDIT.path();

  /** As the API names them. */
  static final List<String> NAMES = List.of("subject", "actor", "action", "from", "to");

  AuditFields {
    filled = new LinkedHashMap<>(filled);
  }

  static AuditFields of(Query query) {
    Map<String, String> filled = new LinkedHashMap<>();
    for (String name : NAMES) {
      query.text(name).ifPresent(text -> filled.put(name, text));
    }
    return new AuditFields(filled);
  }

  /** What a filter says, or an empty text. */
  String text(String name) {
    return filled.getOrDefault(name, "");
  }

  boolean isEmpty() {
    return filled.isEmpty();
  }

  /** The page with the entries after one of these. */
  String after(long number) {
    return PATH + (isEmpty() ? "?" : query() + "&") + "after=" + number;
  }

  String download() {
    return PATH + "/export" + query();
  }

  String curl(String path) {
    return Display.curl("GET", path + query(), "");
  }

  /** With the flags of {@code coatcheck audit list}, which are named as the filters are. */
  String command(String verb) {
    return "coatcheck audit "
        + verb
        + filled.entrySet().stream()
            .map(filter -> " --" + filter.getKey() + " " + Display.shellWord(filter.getValue()))
            .collect(Collectors.joining());
  }

  private String query() {
    return isEmpty()
        ? ""
        : filled.entrySet().stream()
            .map(filter -> filter.getKey() + "=" + Paths.encoded(filter.getValue()))
            .collect(Collectors.joining("&", "?", ""));
  }
}

package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.Section;
import java.util.List;
import java.util.Map;

/** A way to change a type: its form, and what the form says. */
interface ChangeKind {
  default Section section() {
    return Section.LEGACY;
  }

  String heading(Subject subject);

  /** What the button that confirms says. */
  String button(Subject subject);

  /** What is filled in; empty if the change is known without. */
  List<TypeFields.Group> groups(Subject subject);

  /** The texts of the form before anything is filled in. */
  default Map<String, String> proposed(Subject subject) {
    return subject.texts();
  }

  /**
   * The type after the change, as texts of a form.
   *
   * @throws dev.coatcheck.api.exchange.Refusal if it can't be done
   */
  Map<String, String> changed(Subject subject, Form form);

  /**
   * What the change means for clients, in sentences.
   *
   * @param after the type as {@link TypeFields#texts}
   */
  List<String> consequences(Subject subject, Map<String, String> after);

  /** The page to show after the change of the type with this name. */
  default String next(String name) {
    return ChangePages.legacyPathOf(name);
  }
}

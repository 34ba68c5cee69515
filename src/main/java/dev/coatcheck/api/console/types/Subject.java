package dev.coatcheck.api.console.types;

import dev.coatcheck.api.routes.types.TypeBody;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.Type;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What a form changes.
 *
 * @param type empty for a new one
 * @param brownout that the path names, where it names one
 */
record Subject(Optional<Type> type, Optional<Brownout> brownout) {
  String name() {
    return type.map(Type::name).orElse("");
  }

  int version() {
    return type.map(Type::version).orElse(0);
  }

  /** The type as texts of a form; empty for a new one. */
  SequencedMap<String, String> texts() {
    return type.map(present -> TypeFields.texts(TypeBody.fields(present)))
        .orElseGet(LinkedHashMap::new);
  }

  /** The same, with other values for some fields. */
  Map<String, String> textsWith(Map<String, String> others) {
    Map<String, String> texts = texts();
    texts.putAll(others);
    return texts;
  }
}

package dev.coatcheck.client;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The fields of a JSON object of the gateway. One that is missing or of another kind is empty. */
record Fields(Map<?, ? extends @Nullable Object> object) {
  Optional<String> text(String name) {
    return object.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  Optional<Integer> number(String name) {
    return object.get(name) instanceof Long number
        ? Optional.of(number.intValue())
        : Optional.empty();
  }

  /** 0 if it is missing. */
  long longNumber(String name) {
    return object.get(name) instanceof Long number ? number : 0;
  }

  Optional<Instant> time(String name) {
    return text(name).map(text -> OffsetDateTime.parse(text).toInstant());
  }

  Optional<Fields> fields(String name) {
    return object.get(name) instanceof Map<?, ?> fields
        ? Optional.of(new Fields(fields))
        : Optional.empty();
  }

  List<Fields> list(String name) {
    return object.get(name) instanceof List<?> list
        ? list.stream().map(item -> new Fields((Map<?, ?>) item)).toList()
        : List.of();
  }

  List<String> texts(String name) {
    return object.get(name) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }

  /**
   * A field that the contract requires.
   *
   * @throws CoatcheckException if it is missing
   */
  String required(String name) {
    return text(name)
        .orElseThrow(
            () ->
                new CoatcheckException(
                    Problem.ofClient(
                        Problem.NOT_A_GATEWAY, "The answer has no " + name + ". Check the URL."),
                    null));
  }
}

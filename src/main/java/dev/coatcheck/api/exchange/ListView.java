package dev.coatcheck.api.exchange;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The form of every list in an answer.
 *
 * @param hasMore null for a list that is always complete
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ListView<T>(String object, List<T> data, @Nullable Boolean hasMore) {
  public static <T> ListView<T> of(List<T> data) {
    return new ListView<>("list", data, null);
  }

  public static <T> ListView<T> page(List<T> data, boolean hasMore) {
    return new ListView<>("list", data, hasMore);
  }
}

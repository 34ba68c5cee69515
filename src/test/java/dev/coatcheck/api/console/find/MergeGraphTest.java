package dev.coatcheck.api.console.find;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MergeGraphTest {
  private static List<String> drawn(List<String> merged, String asked) {
    return MergeGraph.of("s", merged, asked, 2).merged().stream().map(MergeGraph.Box::id).toList();
  }

  @Test
  void theOneThatWasAskedForIsDrawnAmongTheOthers() {
    assertThat(drawn(List.of("a", "b"), "b")).containsExactly("a", "b");
    assertThat(drawn(List.of("a", "b", "c"), "c")).containsExactly("a", "c");
    assertThat(drawn(List.of("a"), "s")).containsExactly("a");
  }

  /** Another instance may have erased the survivor in between. */
  @Test
  void theOneThatWasAskedForIsDrawnIfNoneIsKnownAnyMore() {
    assertThat(drawn(List.of(), "a")).containsExactly("a");
    assertThat(drawn(List.of("b"), "a")).containsExactly("b", "a");
  }
}

package dev.coatcheck.api.body;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BodyBudgetTest {
  private static final int MEBIBYTE = 1 << 20;
  private static final int BESIDES = 4_096;

  private final BodyBudget budget = new BodyBudget();

  @Test
  void oneApiKeyHoldsAtMostAQuarter() {
    assertThat(fill("greedy", MEBIBYTE)).hasSizeBetween(11, 12);
    assertThat(fill("other", MEBIBYTE)).hasSizeBetween(11, 12);
  }

  @Test
  void allTogetherHold64MebibytesAndLargeBodiesLeaveRoomForSmallOnes() {
    for (int key = 0; key < 10; key++) {
      fill("key " + key, MEBIBYTE);
    }
    assertThat(budget.bytesHeld()).isBetween(46L * MEBIBYTE, 48L * MEBIBYTE);

    for (int key = 0; key < 10; key++) {
      assertThat(fill("key " + key, BodyBudget.SMALL_BYTES).size() > 300).isEqualTo(key < 4);
    }
    assertThat(budget.bytesHeld()).isBetween(62L * MEBIBYTE, 64L * MEBIBYTE);
  }

  @Test
  void aBodyThatGrowsIsChargedOnceAndInFullCountedBack() {
    BodyBudget.Account account = budget.open("key", BESIDES);
    for (int bytes = 0; bytes <= MEBIBYTE; bytes = Math.max(1_024, 2 * bytes)) {
      assertThat(account.hold(bytes)).isTrue();
      assertThat(budget.bytesHeld()).isEqualTo(BESIDES + bytes);
    }
    assertThat(account.hold(0)).isTrue();
    assertThat(budget.bytesHeld()).isEqualTo(BESIDES);

    account.close();
    account.close();

    assertThat(budget.bytesHeld()).isZero();
    assertThat(account.hold(1)).as("once closed").isFalse();
    assertThat(fill("key", MEBIBYTE)).isNotEmpty();
  }

  @Test
  void whatCantBeHeldLeavesTheAccountAsItWas() {
    List<BodyBudget.Account> all = fill("key", MEBIBYTE);
    long held = budget.bytesHeld();
    BodyBudget.Account small = budget.open("key", BESIDES);
    assertThat(small.hold(100)).isTrue();

    assertThat(small.hold(MEBIBYTE)).isFalse();

    assertThat(budget.bytesHeld()).isEqualTo(held + BESIDES + 100);
    small.close();
    all.forEach(BodyBudget.Account::close);
    assertThat(budget.bytesHeld()).isZero();
  }

  private List<BodyBudget.Account> fill(String key, int bodyBytes) {
    List<BodyBudget.Account> opened = new ArrayList<>();
    while (true) {
      BodyBudget.Account account = budget.open(key, BESIDES);
      if (!account.hold(bodyBytes)) {
        return opened;
      }
      opened.add(account);
    }
  }
}

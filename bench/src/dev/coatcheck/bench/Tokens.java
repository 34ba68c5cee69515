package dev.coatcheck.bench;

import dev.coatcheck.core.id.Token;
import java.util.concurrent.ThreadLocalRandom;

/** The tokens of the mappings that are asked for, 16 bytes each. */
final class Tokens {
  private final long[] high;
  private final long[] low;

  Tokens(int count) {
    this.high = new long[count];
    this.low = new long[count];
  }

  int count() {
    return high.length;
  }

  Token get(int index) {
    return new Token(high[index], low[index]);
  }

  void set(int index, Token token) {
    high[index] = token.high();
    low[index] = token.low();
  }

  Token random() {
    return get(ThreadLocalRandom.current().nextInt(high.length));
  }
}

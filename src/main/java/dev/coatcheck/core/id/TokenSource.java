package dev.coatcheck.core.id;

/** Draws tokens for stored public IDs: 118 random bits, then the ten bits of the bucket. */
public final class TokenSource {
  private final RandomSource random;

  public TokenSource(RandomSource random) {
    this.random = random;
  }

  public Token next(int bucket) {
    if (bucket < 0 || bucket > Bucket.MAX) {
      throw new IllegalArgumentException("bucket=" + bucket + " is not in 0.." + Bucket.MAX);
    }
    Token bits = random.nextToken();
    return new Token(bits.high(), (bits.low() & ~(long) Bucket.MAX) | bucket);
  }
}

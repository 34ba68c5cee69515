package dev.coatcheck.core.seal;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The sealed public IDs of a type: those of all keys from a moment on. Each is the key and a tag of
 * the prefix, enciphered as one block with the seal key of the era that the key belongs to:
 *
 * <pre>
 *  token = AES-256(cipher key of the era, key (64 bits) ‖ tag (64 bits))
 *  tag   = the first 8 bytes of SHA-256("coatcheck sealed v1" ‖ 0 ‖ prefix)
 * </pre>
 *
 * So a key has one ID for ever, and no two keys have the same. A made-up token opens with a
 * probability of 2^-64 for each era.
 */
public final class Sealing {
  /** How far ahead of the present a key of a sealed type may be. */
  public static final Duration KEY_AHEAD_MAX = Duration.ofHours(24);

  private static final String TAG_LABEL = "coatcheck sealed v1";
  private static final long WHOLE_TAG = -1L;

  private final SnowflakeLayout layout;
  private final Instant from;
  private final List<Era> eras;
  private final List<Era> openEras;
  private final long tag;
  private final long tagMask;

  /**
   * A span of key times, which ends where the next one starts.
   *
   * @param startsAt empty for the first era: there is no key before it
   * @param key empty if this instance does not have the seal key of that fingerprint
   * @param closedAt when its seal key ceased to open anything: its public IDs have rows, or resolve
   *     no more
   */
  public record Era(
      Optional<Instant> startsAt,
      String fingerprint,
      Optional<SealKey> key,
      Optional<Instant> closedAt) {
    public boolean isClosed() {
      return closedAt.isPresent();
    }

    boolean hasBegunAt(long millis) {
      return startsAt.isEmpty() || startsAt.get().toEpochMilli() <= millis;
    }
  }

  /** What a token turned out to be. */
  public sealed interface Opened {
    /** The sealed ID of a key. */
    record OfKey(long key) implements Opened {}

    /** No sealed ID of the type. */
    record NotSealed() implements Opened {}

    /** It may be of an era whose seal key this instance lacks. */
    record KeyMissing(String fingerprint) implements Opened {}
  }

  /**
   * @param layout of the keys of the type
   * @param from keys of an earlier time have stored IDs
   * @param eras in the order of their starts, the first without one
   */
  public Sealing(Prefix prefix, SnowflakeLayout layout, Instant from, List<Era> eras) {
    this(prefix, layout, from, eras, WHOLE_TAG);
  }

  /** The same with a part of the tag, so that tests can see forged tokens that open. */
  Sealing(Prefix prefix, SnowflakeLayout layout, Instant from, List<Era> eras, long tagMask) {
    if (eras.isEmpty() || eras.getFirst().startsAt().isPresent()) {
      throw new IllegalArgumentException("no first era: " + eras);
    }
    this.layout = layout;
    this.from = from;
    this.eras = List.copyOf(eras);
    this.openEras = this.eras.stream().filter(era -> !era.isClosed()).toList();
    this.tag = ByteBuffer.wrap(Sha256.of(TAG_LABEL, prefix.value())).getLong();
    this.tagMask = tagMask;
  }

  /** The moment from which keys are sealed. */
  public Instant from() {
    return from;
  }

  public List<Era> eras() {
    return eras;
  }

  /** The open eras whose seal keys this instance lacks. */
  public List<Era> erasWithoutKey() {
    return openEras.stream().filter(era -> era.key().isEmpty()).toList();
  }

  /** Whether some keys of the type have stored IDs. */
  public boolean hasStoredKeys() {
    return from.toEpochMilli() > layout.epochMillis() || openEras.size() < eras.size();
  }

  /**
   * Keys that follow one another.
   *
   * @param last the greatest one
   */
  public record Span(long first, long last) {}

  /** The keys that are sealed, in their order. */
  public List<Span> spans() {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < eras.size(); i++) {
      long first = leastKeyFrom(eras.get(i).startsAt().orElse(Instant.EPOCH));
      long last =
          i + 1 < eras.size()
              ? leastKeyFrom(eras.get(i + 1).startsAt().orElseThrow()) - 1
              : Long.MAX_VALUE;
      if (!eras.get(i).isClosed() && first <= last) {
        spans.add(new Span(first, last));
      }
    }
    return spans;
  }

  /** The least key of a time at which the type seals already. */
  private long leastKeyFrom(Instant time) {
    long millis =
        Math.max(Math.max(time.toEpochMilli(), from.toEpochMilli()), layout.epochMillis());
    return millis >= layout.endMillis()
        ? Long.MAX_VALUE
        : layout.key(layout.positionFrom(millis), 0);
  }

  /** Whether the key is dated further ahead than a sealed type takes keys. */
  public boolean isTooFarAhead(long key, Instant now) {
    return timeOf(key).isAfter(now.plus(KEY_AHEAD_MAX));
  }

  public Instant timeOf(long key) {
    return layout.timeOf(key);
  }

  /**
   * Whether the public ID of the key is sealed. Until its era is closed, this depends on nothing
   * but the key.
   */
  public boolean seals(long key) {
    return isOfEra(key) && !eraOf(key).isClosed();
  }

  /** Whether the key is of a closed era: then its public ID is in its row, if it has one. */
  public boolean isOfClosedEra(long key) {
    return isOfEra(key) && eraOf(key).isClosed();
  }

  /** Whether the key is of any era: not negative, and of the time from which the type seals. */
  public boolean isOfEra(long key) {
    return key >= 0 && millisOf(key) >= from.toEpochMilli();
  }

  /** Whether keys that are made at this moment are sealed. */
  public boolean sealsAt(Instant time) {
    return !time.isBefore(from) && !eraAt(time.toEpochMilli()).isClosed();
  }

  /** The era with the seal key. */
  public Optional<Era> eraWith(String fingerprint) {
    return eras.stream().filter(era -> era.fingerprint().equals(fingerprint)).findFirst();
  }

  /**
   * The token that its era gives a key, open or closed; empty if this instance lacks the seal key
   * of the {@linkplain #eraOf era}.
   */
  public Optional<Token> seal(long key) {
    if (!isOfEra(key)) {
      throw new IllegalArgumentException("not sealed: " + key);
    }
    return eraOf(key).key().map(era -> era.encipher(new Token(key, tag)));
  }

  public Era eraOf(long key) {
    return eraAt(millisOf(key));
  }

  private Era eraAt(long millis) {
    for (int i = eras.size() - 1; i > 0; i--) {
      if (eras.get(i).hasBegunAt(millis)) {
        return eras.get(i);
      }
    }
    return eras.getFirst();
  }

  /** The closed era whose seal key still opens the token here; empty if none does. */
  public Optional<Era> closedEraOf(Token token) {
    return eras.stream()
        .filter(era -> era.isClosed() && era.key().isPresent())
        .filter(era -> isOf(era, era.key().get().decipher(token)))
        .findFirst();
  }

  /**
   * Opens a token. Tries all open eras, whatever matches, so that each refusal takes as long as any
   * other.
   */
  public Opened open(Token token) {
    Opened opened = new Opened.NotSealed();
    boolean isOpen = false;
    for (Era era : openEras) {
      if (era.key().isEmpty()) {
        opened = isOpen ? opened : new Opened.KeyMissing(era.fingerprint());
        continue;
      }
      Token plain = era.key().get().decipher(token);
      if (isOf(era, plain)) {
        opened = new Opened.OfKey(plain.high());
        isOpen = true;
      }
    }
    return opened;
  }

  /** Whether a deciphered block is that of a key of the era. */
  private boolean isOf(Era era, Token plain) {
    return ((plain.low() ^ tag) & tagMask) == 0
        && isOfEra(plain.high())
        && eraOf(plain.high()).equals(era);
  }

  /** Whether both give every key the same ID, and open the same IDs. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Sealing that
        && layout.equals(that.layout)
        && from.equals(that.from)
        && eras.equals(that.eras)
        && tag == that.tag
        && tagMask == that.tagMask;
  }

  @Override
  public int hashCode() {
    return Objects.hash(layout, from, eras, tag, tagMask);
  }

  private long millisOf(long key) {
    return layout.millisSinceEpoch(key) + layout.epochMillis();
  }
}

package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.registry.Type;
import java.util.Comparator;
import java.util.UUID;

/** One key of one type: what has at most one public ID. The bucket follows from the other two. */
public record TypedKey(int typeNumber, Key key, int bucket) {
  /**
   * One order for everyone, so that two transactions can't wait for each other. Rising keys keep
   * the key index dense: by bucket, a mapping took 13 bytes more.
   */
  public static final Comparator<TypedKey> LOCK_ORDER =
      Comparator.comparingInt(TypedKey::typeNumber).thenComparing(TypedKey::key, TypedKey::compare);

  public static TypedKey of(Type type, Key key) {
    return new TypedKey(type.number(), key, type.salt().bucketOf(key));
  }

  /** Keys of one type, so of one kind. */
  static int compare(Key one, Key other) {
    return switch (one) {
      case Key.Bigint(long value) -> Long.compare(value, ((Key.Bigint) other).value());
      case Key.Uuid(UUID value) -> {
        UUID that = ((Key.Uuid) other).value();
        int high =
            Long.compareUnsigned(value.getMostSignificantBits(), that.getMostSignificantBits());
        yield high != 0
            ? high
            : Long.compareUnsigned(value.getLeastSignificantBits(), that.getLeastSignificantBits());
      }
    };
  }
}

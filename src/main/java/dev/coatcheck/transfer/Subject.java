package dev.coatcheck.transfer;

import dev.coatcheck.key.Key;
import dev.coatcheck.registry.Type;
import java.util.Comparator;

/** One key of one type: what has at most one public ID. The bucket follows from the other two. */
record Subject(int typeNumber, Key key, int bucket) {
  /**
   * The order in which all writers of mappings take their rows, so that two can't wait for each
   * other; rising keys also keep the key index dense.
   */
  static final Comparator<Subject> LOCK_ORDER =
      (one, other) -> {
        int byType = Integer.compare(one.typeNumber, other.typeNumber);
        return byType != 0 ? byType : compare(one.key, other.key);
      };

  static Subject of(Type type, Key key) {
    return new Subject(type.number(), key, type.salt().bucketOf(key));
  }

  private static int compare(Key one, Key other) {
    return switch (one) {
      case Key.Bigint(long value) -> Long.compare(value, ((Key.Bigint) other).value());
      case Key.Uuid(java.util.UUID value) -> {
        java.util.UUID that = ((Key.Uuid) other).value();
        int high =
            Long.compareUnsigned(value.getMostSignificantBits(), that.getMostSignificantBits());
        yield high != 0
            ? high
            : Long.compareUnsigned(value.getLeastSignificantBits(), that.getLeastSignificantBits());
      }
    };
  }
}

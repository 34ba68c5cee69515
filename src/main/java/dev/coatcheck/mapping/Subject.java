package dev.coatcheck.mapping;

import dev.coatcheck.key.Key;
import dev.coatcheck.registry.Type;

/** One key of one type: what has at most one public ID. The bucket follows from the other two. */
public record Subject(int typeNumber, Key key, int bucket) {

  public static Subject of(Type type, Key key) {
    return new Subject(type.number(), key, type.salt().bucketOf(key));
  }
}

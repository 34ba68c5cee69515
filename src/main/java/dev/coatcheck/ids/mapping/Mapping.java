package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;

/** A public ID and the key that it stands for. */
public record Mapping(Type type, Key key, Token token, Instant createdAt, Status status) {

  /** Whether it is in force. */
  public enum Status implements WireNamed {
    ACTIVE(0),
    REVOKED(1),
    MERGED(2),
    /** Only its token is left: the key and the time are not those of a row. */
    ERASED(3);

    private final short number;

    Status(int number) {
      this.number = (short) number;
    }

    /** As it stands in the database. */
    short number() {
      return number;
    }

    static Status of(short number) {
      return switch (number) {
        case 0 -> ACTIVE;
        case 1 -> REVOKED;
        case 2 -> MERGED;
        case 3 -> ERASED;
        default -> throw new IllegalArgumentException("status: " + number);
      };
    }
  }

  public PublicId publicId() {
    return new PublicId(type.prefix(), token);
  }
}

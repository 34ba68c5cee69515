package dev.coatcheck.hibernate;

import dev.coatcheck.id.Key;
import java.io.Serializable;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.UUID;
import org.hibernate.models.spi.MemberDetails;
import org.hibernate.models.spi.TypeDetails;
import org.hibernate.type.SqlTypes;
import org.hibernate.type.descriptor.WrapperOptions;
import org.hibernate.usertype.AnnotationBasedUserType;
import org.hibernate.usertype.EnhancedUserType;
import org.hibernate.usertype.UserTypeCreationContext;
import org.jspecify.annotations.Nullable;

/** Reads and writes what {@link KeyType} annotates. Hibernate makes one for each attribute. */
public final class KeyUserType
    implements AnnotationBasedUserType<KeyType, Key<?>>, EnhancedUserType<Key<?>> {
  private Class<?> type = Object.class;
  private KeyType.Kind kind = KeyType.Kind.BIGINT;

  /** For Hibernate. */
  public KeyUserType() {}

  @Override
  public void initialize(KeyType annotation, UserTypeCreationContext context) {
    kind = annotation.value();
    MemberDetails member = context.getMemberDetails();
    type = argument(member);
  }

  static Class<?> argument(MemberDetails member) {
    TypeDetails type = member.getType();
    if (type.getTypeKind() == TypeDetails.Kind.PARAMETERIZED_TYPE) {
      TypeDetails argument = type.asParameterizedType().getArguments().get(0);
      if (argument.getTypeKind() == TypeDetails.Kind.CLASS
          && type.determineRawClass().getName().equals(Key.class.getName())) {
        return argument.determineRawClass().toJavaClass();
      }
    }
    throw new IllegalArgumentException(
        "@KeyType needs an attribute such as Key<Charge>, and "
            + member.getName()
            + " of "
            + member.getDeclaringType().getName()
            + " is another one.");
  }

  @Override
  public int getSqlType() {
    return kind == KeyType.Kind.UUID ? SqlTypes.UUID : Types.BIGINT;
  }

  @Override
  @SuppressWarnings("unchecked") // the class of Key<?>, as generics want it
  public Class<Key<?>> returnedClass() {
    return (Class<Key<?>>) (Class<?>) Key.class;
  }

  @Override
  public @Nullable Key<?> nullSafeGet(ResultSet row, int column, WrapperOptions options)
      throws SQLException {
    if (kind == KeyType.Kind.UUID) {
      UUID value = row.getObject(column, UUID.class);
      return value == null ? null : Key.of(type, value);
    }
    long value = row.getLong(column);
    return row.wasNull() ? null : Key.of(type, value);
  }

  @Override
  public void nullSafeSet(
      PreparedStatement statement, @Nullable Key<?> key, int index, WrapperOptions options)
      throws SQLException {
    if (key == null) {
      statement.setNull(index, kind == KeyType.Kind.UUID ? Types.OTHER : Types.BIGINT);
    } else {
      statement.setObject(index, value(key));
    }
  }

  @Override
  public Key<?> deepCopy(Key<?> key) {
    return key;
  }

  @Override
  public boolean isMutable() {
    return false;
  }

  @Override
  public @Nullable Serializable disassemble(@Nullable Key<?> key) {
    return key == null ? null : value(key);
  }

  @Override
  public @Nullable Key<?> assemble(@Nullable Serializable cached, Object owner) {
    if (cached == null) {
      return null;
    }
    return cached instanceof UUID uuid ? Key.of(type, uuid) : Key.of(type, (Long) cached);
  }

  @Override
  public String toSqlLiteral(Key<?> key) {
    Serializable value = value(key);
    return value instanceof Long ? key.text() : "'" + key.text() + "'::uuid";
  }

  @Override
  public String toString(Key<?> key) {
    return key.text();
  }

  @Override
  public Key<?> fromStringValue(CharSequence text) {
    return Key.parse(type, text.toString());
  }

  /**
   * The number or UUID for a column of this kind.
   *
   * @throws IllegalArgumentException if the key is of another class or kind
   */
  private Serializable value(Key<?> key) {
    if (key.type() != type) {
      throw new IllegalArgumentException(
          "A key of " + key.type().getName() + " is given for a column of " + type.getName());
    }
    if (kind == KeyType.Kind.BIGINT && key instanceof Key.OfLong<?> number) {
      return number.value();
    }
    if (kind == KeyType.Kind.UUID && key instanceof Key.OfUuid<?> uuid) {
      return uuid.value();
    }
    throw new IllegalArgumentException(
        "The column of " + type.getName() + " holds keys of the kind " + kind);
  }
}

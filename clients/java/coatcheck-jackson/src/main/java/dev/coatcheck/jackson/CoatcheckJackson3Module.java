package dev.coatcheck.jackson;

import dev.coatcheck.id.InvalidPublicIdException;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdScalarSerializer;

/**
 * Public IDs in the JSON of Jackson 3: {@code PublicId<Charge>} is a string, and reading the public
 * ID of another type, or a typing error, fails with an {@link InvalidPublicIdException} as the
 * cause. A {@link Key} is written as the text of its public ID, and never read.
 *
 * <p>{@code JsonMapper.builder().findAndAddModules()} finds it, with {@link KeyTexts#none}.
 */
public final class CoatcheckJackson3Module extends SimpleModule {
  private static final long serialVersionUID = 1;

  private final transient KeyTexts keys;

  /** A module that refuses to write keys. */
  public CoatcheckJackson3Module() {
    this(KeyTexts.none());
  }

  /**
   * A module that writes keys too.
   *
   * @param keys what to write for them
   */
  public CoatcheckJackson3Module(KeyTexts keys) {
    super(CoatcheckJackson3Module.class.getName());
    this.keys = keys;
  }

  @Override
  public void setupModule(SetupContext context) {
    addSerializer(new IdWriter());
    addDeserializer(PublicId.class, new IdReader(null));
    addSerializer(new KeyWriter(keys));
    addKeySerializer(PublicIdText.keyClass(), new KeyNameWriter(keys));
    addDeserializer(Key.class, new KeyReader());
    super.setupModule(context);
    context.addKeyDeserializers(
        (type, config, bean) -> type.hasRawClass(PublicId.class) ? new IdNameReader(type) : null);
  }

  private static @Nullable Class<?> argument(@Nullable JavaType type) {
    JavaType argument = type == null ? null : type.containedType(0);
    return argument == null ? null : PublicIdText.known(argument.getRawClass());
  }

  private static final class IdWriter extends StdScalarSerializer<PublicId<?>> {
    IdWriter() {
      super(PublicId.class, false);
    }

    @Override
    public void serialize(PublicId<?> id, JsonGenerator json, SerializationContext context) {
      json.writeString(id.toString());
    }
  }

  private static final class IdReader extends StdScalarDeserializer<PublicId<?>> {
    private final @Nullable Class<?> type;

    IdReader(@Nullable Class<?> type) {
      super(PublicId.class);
      this.type = type;
    }

    @Override
    public ValueDeserializer<?> createContextual(
        DeserializationContext context, @Nullable BeanProperty property) {
      return new IdReader(argument(context.getContextualType()));
    }

    @Override
    public @Nullable PublicId<?> deserialize(JsonParser json, DeserializationContext context) {
      if (!json.hasToken(JsonToken.VALUE_STRING)) {
        return (PublicId<?>) context.handleUnexpectedToken(getValueType(context), json);
      }
      if (type == null) {
        return context.reportBadDefinition(getValueType(context), PublicIdText.NO_TYPE);
      }
      try {
        return PublicIdText.parse(type, json.getString());
      } catch (InvalidPublicIdException invalid) {
        throw DatabindException.from(json, invalid.getMessage(), invalid);
      }
    }
  }

  private static final class IdNameReader extends KeyDeserializer {
    private final @Nullable Class<?> type;

    IdNameReader(JavaType type) {
      this.type = argument(type);
    }

    @Override
    public Object deserializeKey(String name, DeserializationContext context) {
      try {
        return PublicIdText.parse(type, name);
      } catch (InvalidPublicIdException invalid) {
        throw DatabindException.from(context, invalid.getMessage(), invalid);
      }
    }
  }

  private static final class KeyWriter extends StdScalarSerializer<Key<?>> {
    private final KeyTexts keys;

    KeyWriter(KeyTexts keys) {
      super(Key.class, false);
      this.keys = keys;
    }

    @Override
    public void serialize(Key<?> key, JsonGenerator json, SerializationContext context) {
      json.writeString(keys.textOf(key));
    }
  }

  private static final class KeyNameWriter extends ValueSerializer<Key<?>> {
    private final KeyTexts keys;

    KeyNameWriter(KeyTexts keys) {
      this.keys = keys;
    }

    @Override
    public void serialize(Key<?> key, JsonGenerator json, SerializationContext context) {
      json.writeName(keys.textOf(key));
    }
  }

  private static final class KeyReader extends StdScalarDeserializer<Key<?>> {
    KeyReader() {
      super(Key.class);
    }

    @Override
    public Key<?> deserialize(JsonParser json, DeserializationContext context) {
      return context.reportBadDefinition(getValueType(context), PublicIdText.NO_KEYS);
    }
  }
}

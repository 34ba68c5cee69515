package dev.coatcheck.jackson;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import dev.coatcheck.id.InvalidPublicIdException;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Public IDs in the JSON of Jackson 2: {@code PublicId<Charge>} is a string, and reading the public
 * ID of another type, or a typing error, fails with an {@link InvalidPublicIdException} as the
 * cause. A {@link Key} is written as the text of its public ID, and never read.
 *
 * <p>{@code ObjectMapper.findAndRegisterModules()} finds it, with {@link KeyTexts#none}.
 */
public final class CoatcheckJackson2Module extends SimpleModule {
  private static final long serialVersionUID = 1;
  private static final String WITHOUT_KEYS = CoatcheckJackson2Module.class.getName();
  private static final String WITH_KEYS = WITHOUT_KEYS + " with keys";

  private final transient KeyTexts keys;

  /** A module that refuses to write keys, unless the mapper has one that writes them. */
  public CoatcheckJackson2Module() {
    super(WITHOUT_KEYS);
    keys = KeyTexts.none();
  }

  /**
   * A module that writes keys too.
   *
   * @param keys what to write for them
   */
  public CoatcheckJackson2Module(KeyTexts keys) {
    super(WITH_KEYS); // a mapper takes one module of a name, and may have found the other
    this.keys = keys;
  }

  @Override
  public void setupModule(SetupContext context) {
    ObjectCodec owner = context.getOwner();
    if (getModuleName().equals(WITHOUT_KEYS)
        && owner instanceof ObjectMapper mapper
        && mapper.getRegisteredModuleIds().contains(WITH_KEYS)) {
      return;
    }
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
    public void serialize(PublicId<?> id, JsonGenerator json, SerializerProvider context)
        throws IOException {
      json.writeString(id.toString());
    }
  }

  private static final class IdReader extends StdScalarDeserializer<PublicId<?>>
      implements ContextualDeserializer {
    private final @Nullable Class<?> type;

    IdReader(@Nullable Class<?> type) {
      super(PublicId.class);
      this.type = type;
    }

    @Override
    public JsonDeserializer<?> createContextual(
        DeserializationContext context, @Nullable BeanProperty property) {
      return new IdReader(argument(context.getContextualType()));
    }

    @Override
    public @Nullable PublicId<?> deserialize(JsonParser json, DeserializationContext context)
        throws IOException {
      if (!json.hasToken(JsonToken.VALUE_STRING)) {
        return (PublicId<?>) context.handleUnexpectedToken(getValueType(context), json);
      }
      if (type == null) {
        return context.reportBadDefinition(getValueType(context), PublicIdText.NO_TYPE);
      }
      try {
        return PublicIdText.parse(type, json.getText());
      } catch (InvalidPublicIdException invalid) {
        throw JsonMappingException.from(json, invalid.getMessage(), invalid);
      }
    }
  }

  private static final class IdNameReader extends KeyDeserializer {
    private final @Nullable Class<?> type;

    IdNameReader(JavaType type) {
      this.type = argument(type);
    }

    @Override
    public Object deserializeKey(String name, DeserializationContext context) throws IOException {
      try {
        return PublicIdText.parse(type, name);
      } catch (InvalidPublicIdException invalid) {
        throw JsonMappingException.from(context, invalid.getMessage(), invalid);
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
    public void serialize(Key<?> key, JsonGenerator json, SerializerProvider context)
        throws IOException {
      json.writeString(keys.textOf(key));
    }
  }

  private static final class KeyNameWriter extends JsonSerializer<Key<?>> {
    private final KeyTexts keys;

    KeyNameWriter(KeyTexts keys) {
      this.keys = keys;
    }

    @Override
    public void serialize(Key<?> key, JsonGenerator json, SerializerProvider context)
        throws IOException {
      json.writeFieldName(keys.textOf(key));
    }
  }

  private static final class KeyReader extends StdScalarDeserializer<Key<?>> {
    KeyReader() {
      super(Key.class);
    }

    @Override
    public Key<?> deserialize(JsonParser json, DeserializationContext context) throws IOException {
      return context.reportBadDefinition(getValueType(context), PublicIdText.NO_KEYS);
    }
  }
}

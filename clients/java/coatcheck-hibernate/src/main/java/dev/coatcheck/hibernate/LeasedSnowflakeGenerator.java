package dev.coatcheck.hibernate;

import dev.coatcheck.id.Key;
import java.util.EnumSet;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.hibernate.engine.config.spi.ConfigurationService;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;
import org.hibernate.models.spi.MemberDetails;
import org.jspecify.annotations.Nullable;

/** Makes the identifiers of {@link LeasedSnowflake}. Hibernate creates it. */
public final class LeasedSnowflakeGenerator
    implements BeforeExecutionGenerator, AnnotationBasedGenerator<LeasedSnowflake> {
  /** The setting of Hibernate whose value makes the keys, a {@link LongSupplier}. */
  public static final String KEYS = "coatcheck.snowflakes";

  private static final long serialVersionUID = 1;

  private transient LongSupplier keys = () -> 0;
  private transient LongFunction<Object> identifier = Long::valueOf;

  /** For Hibernate. */
  public LeasedSnowflakeGenerator() {}

  @Override
  public void initialize(LeasedSnowflake annotation, GeneratorCreationContext context) {
    Object made =
        context
            .getServiceRegistry()
            .requireService(ConfigurationService.class)
            .getSettings()
            .get(KEYS);
    if (!(made instanceof LongSupplier supplier)) {
      throw new IllegalArgumentException(
          "@LeasedSnowflake needs the setting "
              + KEYS
              + ", a LongSupplier such as snowflakes::next.");
    }
    keys = supplier;
    MemberDetails member = context.getMemberDetails();
    if (member.getType().determineRawClass().getName().equals(Key.class.getName())) {
      Class<?> type = KeyUserType.argument(member);
      identifier = key -> Key.of(type, key);
    }
  }

  @Override
  public Object generate(
      SharedSessionContractImplementor session,
      Object owner,
      @Nullable Object current,
      EventType event) {
    return current != null && !Long.valueOf(0).equals(current)
        ? current
        : identifier.apply(keys.getAsLong());
  }

  @Override
  public EnumSet<EventType> getEventTypes() {
    return EventTypeSets.INSERT_ONLY;
  }

  @Override
  public boolean allowAssignedIdentifiers() {
    return true;
  }
}

package dev.coatcheck.hibernate;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/**
 * Gives an entity that is persisted without an identifier a key that is made in this process, by
 * {@code coatcheck-keys}, with no call and no query.
 *
 * <pre>{@code
 * @Id @KeyType @LeasedSnowflake private Key<Charge> id;
 * }</pre>
 *
 * <p>Where the keys come from is the setting {@value LeasedSnowflakeGenerator#KEYS} of Hibernate, a
 * {@link java.util.function.LongSupplier} such as {@code snowflakes::next}; without it the start
 * fails. The identifier is a {@code Key} of a {@code bigint}, a {@code Long} or a {@code long}. An
 * identifier that the application assigned is kept.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
@IdGeneratorType(LeasedSnowflakeGenerator.class)
public @interface LeasedSnowflake {}

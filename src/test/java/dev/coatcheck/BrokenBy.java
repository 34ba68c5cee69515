package dev.coatcheck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the defects that a test exists to find. {@link Breakage} switches each on and requires the
 * test to go red, so that a test that can't fail is found out.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface BrokenBy {
  String[] value();
}

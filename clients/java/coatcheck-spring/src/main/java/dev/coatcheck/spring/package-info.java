/**
 * Public IDs in Spring MVC: {@code PublicId<Charge>} and {@code Key<Charge>} as arguments of
 * controllers and in JSON, problems for IDs that are wrong, unknown or ended, and settings.
 *
 * <p>An application needs {@code coatcheck-spring-boot4} or {@code coatcheck-spring-boot3}, which
 * bring this package and set it up.
 */
@NullMarked
package dev.coatcheck.spring;

import org.jspecify.annotations.NullMarked;

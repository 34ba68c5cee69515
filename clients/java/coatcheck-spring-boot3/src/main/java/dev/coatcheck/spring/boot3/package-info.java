/** What differs between versions of Spring Boot: the health of the gateway, for Spring Boot 3. */
@NullMarked
package dev.coatcheck.spring.boot3;

import org.jspecify.annotations.NullMarked;

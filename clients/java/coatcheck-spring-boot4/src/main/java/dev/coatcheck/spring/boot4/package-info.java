/** What differs between versions of Spring Boot: the health of the gateway, for Spring Boot 4. */
@NullMarked
package dev.coatcheck.spring.boot4;

import org.jspecify.annotations.NullMarked;

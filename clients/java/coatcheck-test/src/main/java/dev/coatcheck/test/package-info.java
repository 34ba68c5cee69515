/** For tests of applications. */
@NullMarked
package dev.coatcheck.test;

import org.jspecify.annotations.NullMarked;

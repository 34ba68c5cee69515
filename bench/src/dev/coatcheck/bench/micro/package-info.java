/** Single methods under JMH, as rows of the table. */
@NullMarked
package dev.coatcheck.bench.micro;

import org.jspecify.annotations.NullMarked;

/** The public ID: its text, its token, its check characters and its shard bucket. JDK only. */
@NullMarked
package dev.coatcheck.core.id;

import org.jspecify.annotations.NullMarked;

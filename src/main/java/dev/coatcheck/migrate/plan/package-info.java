/** What a run would do to a table and ask of its applications, and what stands in its way. */
@NullMarked
package dev.coatcheck.migrate.plan;

import org.jspecify.annotations.NullMarked;

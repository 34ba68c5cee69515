/** The figures of a run: medians, goals, the table, and the comparison with an earlier run. */
@NullMarked
package dev.coatcheck.bench.report;

import org.jspecify.annotations.NullMarked;

/** Processes: how they are started, and how much CPU and memory they take. */
@NullMarked
package dev.coatcheck.bench.machine;

import org.jspecify.annotations.NullMarked;

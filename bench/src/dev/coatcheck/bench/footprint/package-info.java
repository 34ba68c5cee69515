/** What a gateway takes: time to start, memory, disk, statements while idle, CPU of a call. */
@NullMarked
package dev.coatcheck.bench.footprint;

import org.jspecify.annotations.NullMarked;

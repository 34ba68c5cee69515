/** The audit for people: its entries by filters, and all of them as a file. */
@NullMarked
package dev.coatcheck.api.console.audit;

import org.jspecify.annotations.NullMarked;

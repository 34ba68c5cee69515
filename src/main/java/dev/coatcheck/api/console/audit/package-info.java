/** The page that says who changed what. */
@NullMarked
package dev.coatcheck.api.console.audit;

import org.jspecify.annotations.NullMarked;

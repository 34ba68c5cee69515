/** The audit over HTTP: pages, and all of it as NDJSON. */
@NullMarked
package dev.coatcheck.api.routes.audit;

import org.jspecify.annotations.NullMarked;

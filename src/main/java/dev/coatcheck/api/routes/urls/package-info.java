/** Redirects of public IDs and legacy IDs, and whole URLs for proxies. */
@NullMarked
package dev.coatcheck.api.routes.urls;

import org.jspecify.annotations.NullMarked;

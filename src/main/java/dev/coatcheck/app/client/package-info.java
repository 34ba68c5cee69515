/** The client of a running gateway: calls over HTTP, and uploads of files in parts. */
@NullMarked
package dev.coatcheck.app.client;

import org.jspecify.annotations.NullMarked;

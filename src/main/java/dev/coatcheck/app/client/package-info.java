/** What a command line asks of a running gateway: calls over HTTP, and files of rows in parts. */
@NullMarked
package dev.coatcheck.app.client;

import org.jspecify.annotations.NullMarked;

/**
 * What verbs share: the client of a running gateway, uploads of files in parts, and how results are
 * printed.
 */
@NullMarked
package dev.coatcheck.app.client;

import org.jspecify.annotations.NullMarked;

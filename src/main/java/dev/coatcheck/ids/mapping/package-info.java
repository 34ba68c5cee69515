/** Which public ID stands for which key: resolve, look up, list. */
@NullMarked
package dev.coatcheck.ids.mapping;

import org.jspecify.annotations.NullMarked;

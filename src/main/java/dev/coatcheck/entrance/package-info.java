/** What every request passes before a route sees it: names, limits, admission, access. */
@NullMarked
package dev.coatcheck.entrance;

import org.jspecify.annotations.NullMarked;

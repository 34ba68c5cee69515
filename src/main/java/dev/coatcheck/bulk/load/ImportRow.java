package dev.coatcheck.bulk.load;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A sound row.
 *
 * @param key null to have one generated, unless one of the names is there already
 * @param names its legacy ID and its client ID, where it has them
 * @param isDated whether the row says when it was created; a generated key carries that time then
 * @param token of the public ID that it had before; its bucket is that of the key
 */
record ImportRow(
    long line,
    Type type,
    @Nullable Key key,
    List<Alias> names,
    Instant createdAt,
    boolean isDated,
    @Nullable Token token) {

  static boolean giveIds(List<ImportRow> rows) {
    return rows.stream().anyMatch(row -> row.token() != null);
  }
}

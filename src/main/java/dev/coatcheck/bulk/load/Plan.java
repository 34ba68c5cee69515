package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The mappings and aliases to insert for the rows of a chunk, and the rows that are refused. The
 * unique constraints decide, at the insert, whether the plan holds.
 */
final class Plan {
  private final KeySupply keys;
  private final IntFunction<Token> drawToken;
  private final List<StoredMapping> mappings = new ArrayList<>();
  private final List<NewAlias> aliases = new ArrayList<>();
  private final List<RowError> errors = new ArrayList<>();
  private final Map<String, Count> counts = new HashMap<>();

  /** An alias that is about to be inserted, and the token that gets it. */
  record NewAlias(Alias name, Token target) {}

  /** Public IDs of one type. */
  record Count(int created, int existing) {
    Count plus(Count more) {
      return new Count(created + more.created, existing + more.existing);
    }
  }

  private Plan(KeySupply keys, IntFunction<Token> drawToken) {
    this.keys = keys;
    this.drawToken = drawToken;
  }

  /** Takes every row for new, which is what most files hold; needs no look-up. */
  static Plan fresh(List<ImportRow> rows, KeySupply keys, IntFunction<Token> drawToken) {
    Plan plan = new Plan(keys, drawToken);
    rows.forEach(row -> plan.insert(row, null));
    return plan.inLockOrder();
  }

  /** Judges every row by what is there, the rows before it included. */
  static Plan beside(
      Existing existing, List<ImportRow> rows, KeySupply keys, IntFunction<Token> drawToken) {
    Plan plan = new Plan(keys, drawToken);
    rows.forEach(row -> plan.judge(row, existing));
    return plan.inLockOrder();
  }

  List<StoredMapping> mappings() {
    return mappings;
  }

  List<NewAlias> aliases() {
    return aliases;
  }

  List<RowError> errors() {
    return errors;
  }

  /** By the names of types. */
  Map<String, Count> counts() {
    return counts;
  }

  private void judge(ImportRow row, Existing existing) {
    List<Token> targets =
        row.names().stream().flatMap(name -> Stream.ofNullable(existing.target(name))).toList();
    StoredMapping held = null;
    if (row.key() != null) {
      held = existing.of(TypedKey.of(row.type(), row.key()));
    } else if (!targets.isEmpty()) {
      held = existing.withToken(row.type().keyKind(), targets.getFirst());
    }
    RowFault fault = fault(row, held, targets, existing);
    if (fault != null) {
      errors.add(new RowError(row.line(), fault));
    } else if (held == null) {
      insert(row, existing);
    } else {
      count(row.type(), 0, 1);
      for (Alias name : row.names()) {
        if (existing.target(name) == null) {
          insert(new NewAlias(name, held.token()), existing);
        }
      }
    }
  }

  private static @Nullable RowFault fault(
      ImportRow row, @Nullable StoredMapping held, List<Token> targets, Existing existing) {
    if (held != null && !held.isActive()) {
      return RowFault.ID_ENDED;
    }
    if (row.token() != null) {
      StoredMapping other = existing.withToken(row.type().keyKind(), row.token());
      if (held == null ? other != null : !held.token().equals(row.token())) {
        return RowFault.PUBLIC_ID_CONFLICT;
      }
    }
    boolean belongsToAnother =
        targets.stream().anyMatch(target -> held == null || !target.equals(held.token()));
    return belongsToAnother ? RowFault.ALIAS_CONFLICT : null;
  }

  private void insert(ImportRow row, @Nullable Existing existing) {
    TypedKey subject = TypedKey.of(row.type(), row.key() == null ? keys.next(row) : row.key());
    Token token = row.token() == null ? drawToken.apply(subject.bucket()) : row.token();
    StoredMapping mapping =
        new StoredMapping(
            subject.key(), token, subject.typeNumber(), row.createdAt(), Mapping.Status.ACTIVE);
    mappings.add(mapping);
    count(row.type(), 1, 0);
    if (existing != null) {
      existing.add(mapping);
    }
    for (Alias name : row.names()) {
      insert(new NewAlias(name, token), existing);
    }
  }

  private void insert(NewAlias alias, @Nullable Existing existing) {
    aliases.add(alias);
    if (existing != null) {
      existing.add(alias.name(), alias.target());
    }
  }

  private void count(Type type, int created, int existing) {
    counts.merge(type.name(), new Count(created, existing), Count::plus);
  }

  private Plan inLockOrder() {
    mappings.sort(StoredMapping.LOCK_ORDER);
    aliases.sort(Comparator.comparing(NewAlias::name, Alias.LOCK_ORDER));
    return this;
  }
}

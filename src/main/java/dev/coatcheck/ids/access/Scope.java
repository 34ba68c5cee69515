package dev.coatcheck.ids.access;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A right of an API key, as text: {@code *} is every right, {@code ids:read} is one kind of call.
 *
 * @param name {@code *}, or lower-case words joined by a colon
 */
public record Scope(String name) {
  // Must precede the constants, whose constructor uses it.
  private static final Pattern SHAPE = Pattern.compile("\\*|[a-z_]{1,32}(:[a-z_]{1,32})?");

  public static final Scope ALL = new Scope("*");
  public static final Scope IDS_READ = new Scope("ids:read");
  public static final Scope IDS_WRITE = new Scope("ids:write");
  public static final Scope IDS_END = new Scope("ids:end");
  public static final Scope TYPES_READ = new Scope("types:read");
  public static final Scope TYPES_WRITE = new Scope("types:write");
  public static final Scope KEYS_READ = new Scope("keys:read");
  public static final Scope KEYS_WRITE = new Scope("keys:write");
  public static final Scope TABLE_MIGRATIONS_READ = new Scope("table_migrations:read");
  public static final Scope TABLE_MIGRATIONS_WRITE = new Scope("table_migrations:write");
  public static final Scope METRICS_READ = new Scope("metrics:read");
  public static final Scope ACCESS_ADMIN = new Scope("access:admin");
  public static final Scope AUDIT_READ = new Scope("audit:read");

  /** What every API key may without being given it: see itself, and rotate and end itself. */
  public static final Scope SELF = new Scope("self");

  /** All scopes that a new key can have, in the order in which they are listed to users. */
  public static final List<Scope> KNOWN =
      List.of(
          ALL,
          IDS_READ,
          IDS_WRITE,
          IDS_END,
          TYPES_READ,
          TYPES_WRITE,
          KEYS_READ,
          KEYS_WRITE,
          TABLE_MIGRATIONS_READ,
          TABLE_MIGRATIONS_WRITE,
          METRICS_READ,
          ACCESS_ADMIN,
          AUDIT_READ);

  public static Optional<Scope> named(String name) {
    return KNOWN.stream().filter(scope -> scope.name.equals(name)).findFirst();
  }

  /** The scope of a stored key: the constant, unless another version of the gateway knew it. */
  static Scope stored(String name) {
    return named(name).orElseGet(() -> new Scope(name));
  }

  public Scope {
    if (!SHAPE.matcher(name).matches()) {
      throw new IllegalArgumentException("a scope is * or words such as ids:read, not: " + name);
    }
  }
}

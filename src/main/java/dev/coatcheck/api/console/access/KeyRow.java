package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.ids.access.AddressRange;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** An API key as pages show it. */
record KeyRow(StoredKey key, Optional<Instant> lastUsedAt, StoredKey.Status status) {
  static KeyRow of(ApiKeys.Listed listed) {
    return new KeyRow(listed.key(), listed.lastUsedAt(), listed.status());
  }

  /** Such as {@code key_2bN8Qx0LmT4a}. */
  String id() {
    return ApiKey.shown(key.keyId());
  }

  boolean isActive() {
    return status == StoredKey.Status.ACTIVE;
  }

  List<String> scopes() {
    return key.rights().scopes().stream().map(Scope::name).sorted().toList();
  }

  /** Empty for all types. */
  List<String> types() {
    return sorted(key.rights().types());
  }

  /** Empty for any address. */
  List<String> ranges() {
    return ranges(key.rights());
  }

  static List<String> ranges(Rights rights) {
    return sorted(rights.ranges().map(all -> all.stream().map(AddressRange::toString).toList()));
  }

  private static List<String> sorted(Optional<? extends Collection<String>> texts) {
    return texts.map(all -> all.stream().sorted().toList()).orElse(List.of());
  }

  /** Whether anything but its scopes and its expiry limits it. */
  boolean isLimited() {
    return key.rights().types().isPresent()
        || key.rights().ranges().isPresent()
        || key.rights().limit().isPresent();
  }

  String limit() {
    return key.rights()
        .limit()
        .map(
            (RateLimit limit) ->
                Display.count(limit.requests(), "request", "requests")
                    + " in "
                    + Display.number(limit.seconds())
                    + " s")
        .orElse("that of the gateway");
  }

  Optional<String> successor() {
    return key.successor().map(ApiKey::shown);
  }

  Optional<String> madeBy() {
    return key.madeBy().map(ApiKey::shown);
  }

  String path() {
    return path(id());
  }

  /** The page of a key. */
  static String path(String id) {
    return KeyPages.ALL + "/" + id;
  }
}

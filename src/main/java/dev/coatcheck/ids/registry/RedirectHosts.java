package dev.coatcheck.ids.registry;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The hosts that redirects may lead to. If unset, any host is allowed over https, and the loopback
 * names of this machine over http too. If set, only the listed hosts: {@code shop.example} or
 * {@code shop.example:8443} over https, {@code http://shop.example} over both.
 */
public final class RedirectHosts {
  private static final Pattern ENTRY =
      Pattern.compile("(http://|https://)?[a-z0-9.-]+(:[0-9]{1,5})?");
  private static final String HTTPS = "https";
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  /** The schemes over which every host is allowed. */
  private final Set<String> anyOver;

  private final Set<String> overHttps;
  private final Set<String> overHttp;

  /** Links that are not checked. */
  private final Set<RedirectTemplate> kept;

  private RedirectHosts(
      Set<String> anyOver,
      Set<String> overHttps,
      Set<String> overHttp,
      Set<RedirectTemplate> kept) {
    this.anyOver = Set.copyOf(anyOver);
    this.overHttps = Set.copyOf(overHttps);
    this.overHttp = Set.copyOf(overHttp);
    this.kept = Set.copyOf(kept);
  }

  public static RedirectHosts any() {
    return new RedirectHosts(Set.of(HTTPS), Set.of(), Set.of(), Set.of());
  }

  /**
   * All hosts over both schemes: for links that were checked when they were stored, or that a
   * gateway checks with its own list.
   */
  public static RedirectHosts unchecked() {
    return new RedirectHosts(Set.of(HTTPS, "http"), Set.of(), Set.of(), Set.of());
  }

  /**
   * Reads a comma list.
   *
   * @throws IllegalArgumentException naming the first entry that is no host
   */
  public static RedirectHosts parse(String list) {
    Set<String> overHttps = new LinkedHashSet<>();
    Set<String> overHttp = new LinkedHashSet<>();
    for (String part : list.split(",", -1)) {
      String entry = part.strip();
      if (!ENTRY.matcher(entry).matches()) {
        throw new IllegalArgumentException("\"" + entry + "\" is no host");
      }
      String authority = entry.replaceFirst("^https?://", "");
      overHttps.add(authority);
      if (entry.startsWith("http://")) {
        overHttp.add(authority);
      }
    }
    return new RedirectHosts(Set.of(), overHttps, overHttp, Set.of());
  }

  /** These, and the links that a type has: they may be from before the list was changed. */
  public RedirectHosts keeping(Type type) {
    Set<RedirectTemplate> links = new HashSet<>();
    type.redirect().map(Redirect::template).ifPresent(links::add);
    if (type.deadLink() instanceof DeadLink.Fallback(RedirectTemplate target)) {
      links.add(target);
    }
    return new RedirectHosts(anyOver, overHttps, overHttp, links);
  }

  boolean keep(RedirectTemplate link) {
    return kept.contains(link);
  }

  boolean allow(String scheme, String host, String authority) {
    return anyOver.contains(scheme)
        || (scheme.equals(HTTPS) ? overHttps : overHttp).contains(authority)
        || (anyOver.contains(HTTPS) && LOOPBACK.contains(host));
  }
}

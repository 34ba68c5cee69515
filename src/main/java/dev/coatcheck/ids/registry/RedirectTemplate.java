package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Base62;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.key.Key;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An absolute URL with the placeholders {@code {id}} and {@code {key}} in its path, query or
 * fragment. Scheme and authority are literal, so that no value can choose the host.
 */
public final class RedirectTemplate {
  private static final int LENGTH_MAX = 2_048;

  /** Scheme, host with optional port, and the rest that starts a path, a query or a fragment. */
  private static final Pattern SHAPE =
      Pattern.compile(
          "(https?)://((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)*"
              + "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?|\\[[0-9a-f:.]+\\])(:[1-9][0-9]{0,4})?"
              + "((?:[/?#].*)?)");

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([a-z]*)\\}");

  /** Where a placeholder begins or ends. */
  private static final Pattern EDGE =
      Pattern.compile("(?=\\{(?:id|key)})|(?<=\\{id})|(?<=\\{key})");

  private final String text;
  private final List<String> pieces;
  private final String scheme;
  private final String host;
  private final String authority;

  private RedirectTemplate(String text, Matcher shape) {
    this.text = text;
    this.pieces = EDGE.splitAsStream(text).toList();
    this.scheme = shape.group(1);
    this.host = shape.group(2);
    this.authority = shape.group(3) == null ? host : host + shape.group(3);
  }

  /** A parsed template, or a sentence that says why it was refused. */
  public sealed interface Parsed {
    record Accepted(RedirectTemplate template) implements Parsed {}

    record Refused(String reason) implements Parsed {}
  }

  /** Accepts an absolute http or https URL whose host is allowed. */
  public static Parsed parse(String text, RedirectHosts hosts) {
    if (text.length() > LENGTH_MAX) {
      return new Parsed.Refused("is longer than 2,048 characters");
    }
    if (!text.chars().allMatch(c -> c > 0x20 && c < 0x7f && c != '\\')) {
      return new Parsed.Refused(
          "holds a space, a backslash, a control or a non-ASCII character; percent-encode it");
    }
    Matcher shape = SHAPE.matcher(text);
    if (!shape.matches()) {
      return new Parsed.Refused(
          "must start with https:// and a literal host in lower case, with no user and no"
              + " placeholder before the path");
    }
    String rest = shape.group(4);
    for (Matcher found = PLACEHOLDER.matcher(rest); found.find(); ) {
      if (!found.group(1).equals("id") && !found.group(1).equals("key")) {
        return new Parsed.Refused("knows only the placeholders {id} and {key}");
      }
    }
    RedirectTemplate template = new RedirectTemplate(text, shape);
    if (!template.leadsHome(template.fill("0", "0"))) {
      return new Parsed.Refused("is no valid URL once its placeholders are filled");
    }
    return template.isAllowed(hosts)
        ? new Parsed.Accepted(template)
        : new Parsed.Refused(
            "leads to a host that is not allowed; see the setting COATCHECK_REDIRECT_HOSTS");
  }

  /** Whether it may be followed, under a list that may be another one than it was parsed with. */
  public boolean isAllowed(RedirectHosts hosts) {
    return hosts.keep(this) || hosts.allow(scheme, host, authority);
  }

  public boolean usesKey() {
    return text.contains("{key}");
  }

  /**
   * The URL for one public ID. Letters, digits, {@code _} and {@code -} mean the same everywhere
   * behind an authority, so the check of the template holds for each URL that it gives.
   *
   * @throws IllegalStateException if the ID or the key holds another character
   */
  public String fill(PublicId id, Key key) {
    String idText = id.toString();
    String keyText = key.text();
    if (!isPlain(idText) || !isPlain(keyText)) {
      throw new IllegalStateException("not to be filled into a URL: " + idText + ", " + keyText);
    }
    return fill(idText, keyText);
  }

  private static boolean isPlain(String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (!Base62.isBase62(c) && c != '_' && c != '-') {
        return false;
      }
    }
    return true;
  }

  /** The template as it was registered. */
  @Override
  public String toString() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RedirectTemplate that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  private String fill(String id, String key) {
    StringBuilder url = new StringBuilder(text.length() + id.length() + key.length());
    for (String piece : pieces) {
      url.append(
          switch (piece) {
            case "{id}" -> id;
            case "{key}" -> key;
            default -> piece;
          });
    }
    return url.toString();
  }

  private boolean leadsHome(String location) {
    try {
      URI uri = new URI(location);
      return scheme.equals(uri.getScheme())
          && authority.equals(uri.getRawAuthority())
          && uri.getRawUserInfo() == null
          && host.equals(uri.getHost())
          && uri.getPort() <= 65_535;
    } catch (URISyntaxException broken) {
      return false;
    }
  }
}

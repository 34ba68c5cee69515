package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.key.Key;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An absolute URL with the placeholders {@code {id}} and {@code {key}} in its path, query or
 * fragment. Scheme and authority are literal, so that no value can choose where a client is sent.
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

  private final String text;
  private final String scheme;
  private final String host;
  private final String authority;

  private RedirectTemplate(String text, Matcher shape) {
    this.text = text;
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
    return hosts.allow(template.scheme, template.host, template.authority)
        ? new Parsed.Accepted(template)
        : new Parsed.Refused(
            "leads to a host that is not allowed; see the setting COATCHECK_REDIRECT_HOSTS");
  }

  /** A template that was checked when it was registered. */
  static RedirectTemplate stored(String text) {
    return switch (parse(text, RedirectHosts.any())) {
      case Parsed.Accepted(RedirectTemplate template) -> template;
      case Parsed.Refused(String reason) ->
          throw new IllegalStateException("stored redirect template " + reason);
    };
  }

  public boolean usesKey() {
    return text.contains("{key}");
  }

  /**
   * The URL for one public ID. Its authority is compared once more after the substitution.
   *
   * @throws IllegalStateException if the URL would leave the template's authority
   */
  public String fill(PublicId id, Key key) {
    String location = fill(id.toString(), key.text());
    if (!leadsHome(location)) {
      throw new IllegalStateException("redirect of " + text + " would leave its authority");
    }
    return location;
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
    return text.replace("{id}", id).replace("{key}", key);
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

package dev.coatcheck.app.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The policies of a type as options: {@code legacy}, {@code url_templates}, {@code public_rule} and
 * others of the API.
 */
@Command
final class PolicyFlags {
  @Option(names = "--legacy", description = "Redirect the type's legacy IDs at /legacy/NAME/{n}.")
  private boolean legacy;

  @Option(
      names = "--legacy-status",
      paramLabel = "STATUS",
      defaultValue = "308",
      description = "301 or 308. Default: ${DEFAULT-VALUE}.")
  private int status;

  @Option(names = "--legacy-private", description = "Answer 404 to the public.")
  private boolean isPrivate;

  @Option(
      names = "--legacy-max-id",
      paramLabel = "NUMBER",
      description = "The highest legacy ID that was ever issued.")
  private @Nullable String maxId;

  @Option(
      names = "--legacy-deprecated-at",
      paramLabel = "TIME",
      description = "Time for the Deprecation header, for instance 2026-01-31T12:00:00Z.")
  private @Nullable String deprecatedAt;

  @Option(
      names = "--legacy-sunset-at",
      paramLabel = "TIME",
      description = "Time for the Sunset header; from then on the answer is 410.")
  private @Nullable String sunsetAt;

  @Option(
      names = "--legacy-max-age-seconds",
      paramLabel = "SECONDS",
      defaultValue = "0",
      description = "How long the redirect may be cached. Default: ${DEFAULT-VALUE}.")
  private int maxAgeSeconds;

  @Option(
      names = "--url-template",
      paramLabel = "PATH",
      description =
          "Path of URLs with legacy IDs of the type, for instance /orders/{legacy:order}. May be"
              + " repeated, up to 20 times.")
  private List<String> urlTemplates = List.of();

  @ArgGroup(exclusive = false)
  private @Nullable OlderSystemFlags olderSystem;

  @Option(
      names = "--client-names",
      paramLabel = "RULE",
      description =
          "Namespace of client IDs that come without a namespace: required (refused), principal (of"
              + " the API key) or shared. Default: unchanged; for a new type, principal.")
  private @Nullable String clientNames;

  @Option(
      names = "--on-outage",
      paramLabel = "HOW",
      defaultValue = "serve_stale",
      description =
          "Answers while Postgres is unavailable: serve_stale or refuse. Default:"
              + " ${DEFAULT-VALUE}.")
  private String onOutage;

  @Option(
      names = "--stale-seconds-max",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "Seconds for which stale answers are served, 0 to 60. Default: ${DEFAULT-VALUE}.")
  private int staleSecondsMax;

  /** Whether the type's legacy IDs have URLs of their own, beside {@code /legacy/NAME/{n}}. */
  boolean hasUrlTemplates() {
    return !urlTemplates.isEmpty();
  }

  void addTo(Map<String, @Nullable Object> body) {
    if (legacy) {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("status", status);
      fields.put("public", !isPrivate);
      fields.put("max_id", maxId);
      fields.put("deprecated_at", deprecatedAt);
      fields.put("sunset_at", sunsetAt);
      fields.put("max_age_seconds", maxAgeSeconds);
      body.put("legacy", fields);
    }
    body.put("url_templates", urlTemplates);
    if (olderSystem != null) {
      olderSystem.addTo(body);
    }
    if (clientNames != null) {
      body.put("client_names", clientNames);
    }
    body.put("on_outage", onOutage);
    body.put("stale_seconds_max", staleSecondsMax);
  }

  /** What the API calls {@code public_pattern} and {@code public_rule}, as options. */
  static final class OlderSystemFlags {
    private static final String PATTERN = "pattern";

    @Option(
        names = "--public-scheme",
        paramLabel = "SCHEME",
        required = true,
        description =
            "How older public IDs are known: hashids, sqids, typeid and uuid are decoded; pattern"
                + " says that each has a row.")
    private String scheme = "";

    @Option(
        names = "--public-text-prefix",
        paramLabel = "TEXT",
        description = "Fixed text in front of older public IDs.")
    private @Nullable String textPrefix;

    @Option(
        names = "--public-alphabet",
        paramLabel = "CHARACTERS",
        description = "Alphabet of older public IDs, in its order; for hashids, sqids and pattern.")
    private @Nullable String alphabet;

    @Option(
        names = "--public-min-length",
        paramLabel = "LENGTH",
        description = "Least length without the fixed text; for hashids, sqids and pattern.")
    private @Nullable Integer minLength;

    @Option(
        names = "--public-max-length",
        paramLabel = "LENGTH",
        description = "Greatest length without the fixed text; for pattern.")
    private @Nullable Integer maxLength;

    @Option(names = "--public-salt", paramLabel = "TEXT", description = "Salt; for hashids.")
    private @Nullable String salt;

    @Option(
        names = "--public-type-name",
        paramLabel = "PREFIX",
        description = "Prefix of TypeIDs without the underscore, or an empty text; for typeid.")
    private @Nullable String typeName;

    void addTo(Map<String, @Nullable Object> body) {
      Map<String, Object> fields = new LinkedHashMap<>();
      add(fields, "text_prefix", textPrefix);
      add(fields, "alphabet", alphabet);
      add(fields, "min_length", minLength);
      add(fields, "max_length", maxLength);
      add(fields, "salt", salt);
      add(fields, "prefix", typeName);
      if (scheme.equals(PATTERN)) {
        body.put("public_pattern", fields);
      } else {
        fields.put("scheme", scheme);
        body.put("public_rule", fields);
      }
    }

    private static void add(Map<String, Object> fields, String name, @Nullable Object value) {
      if (value != null) {
        fields.put(name, value);
      }
    }
  }
}

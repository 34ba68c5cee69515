package dev.coatcheck.app.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The policies of a type as options: {@code legacy}, {@code url_templates}, {@code public_pattern}
 * and others of the API.
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

  @Option(
      names = "--public-pattern",
      paramLabel = "PATTERN",
      description = "Pattern of the public IDs of an older system.")
  private @Nullable String publicPattern;

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
    body.put("public_pattern", publicPattern);
    if (clientNames != null) {
      body.put("client_names", clientNames);
    }
    body.put("on_outage", onOutage);
    body.put("stale_seconds_max", staleSecondsMax);
  }
}

package dev.coatcheck.app.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What the API calls {@code legacy}, {@code public_pattern}, {@code client_names} and so on. */
@Command
final class PolicyFlags {
  @Option(names = "--legacy", description = "Answer the type's old numbers at /legacy/NAME/{n}.")
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
      description = "The greatest number that was ever given.")
  private @Nullable String maxId;

  @Option(
      names = "--legacy-deprecated-at",
      paramLabel = "TIME",
      description = "Said in the header Deprecation, for instance 2026-01-31T12:00:00Z.")
  private @Nullable String deprecatedAt;

  @Option(
      names = "--legacy-sunset-at",
      paramLabel = "TIME",
      description = "Said in the header Sunset; from then on the answer is 410.")
  private @Nullable String sunsetAt;

  @Option(
      names = "--legacy-max-age-seconds",
      paramLabel = "SECONDS",
      defaultValue = "0",
      description = "How long the redirect may be cached. Default: ${DEFAULT-VALUE}.")
  private int maxAgeSeconds;

  @Option(
      names = "--public-pattern",
      paramLabel = "PATTERN",
      description = "What public IDs of an older system look like.")
  private @Nullable String publicPattern;

  @Option(
      names = "--client-names",
      paramLabel = "RULE",
      description =
          "What client IDs without a namespace are unique in: required (refused), principal or"
              + " shared. Default: as it is; of a new type, principal.")
  private @Nullable String clientNames;

  @Option(
      names = "--on-outage",
      paramLabel = "HOW",
      defaultValue = "serve_stale",
      description = "serve_stale or refuse, when Postgres is gone. Default: ${DEFAULT-VALUE}.")
  private String onOutage;

  @Option(
      names = "--stale-seconds-max",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "For how long, 0 to 60. Default: ${DEFAULT-VALUE}.")
  private int staleSecondsMax;

  void addTo(Map<String, Object> body) {
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
    if (publicPattern != null) {
      body.put("public_pattern", publicPattern);
    }
    if (clientNames != null) {
      body.put("client_names", clientNames);
    }
    body.put("on_outage", onOutage);
    body.put("stale_seconds_max", staleSecondsMax);
  }
}

package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.OutputFile;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditPruning;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck audit}: who changed what, through the API, and its pruning in the database. */
@Command(
    name = "audit",
    addMethodSubcommands = false,
    description = "Lists, exports and prunes who changed what.")
final class AuditCommand {
  private static final Duration PRUNING_MAX = Duration.ofHours(1);
  private static final int PAGE_MAX = 100;
  private static final int LISTED_MAX = 10_000;

  @Command(
      name = "list",
      description = "Lists changes, newest first.",
      footer = "  coatcheck audit list --subject charge")
  void list(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Mixin AuditFlags wanted,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "20",
              description = "How many, up to 10000. Default: ${DEFAULT-VALUE}.")
          int limit)
      throws CommandFailed {
    if (limit < 1 || limit > LISTED_MAX) {
      throw new Misused("--limit must be 1 to " + LISTED_MAX + ".");
    }
    String path = wanted.path("/v1/audit");
    JsonNode after = null;
    for (int left = limit; left > 0; left -= PAGE_MAX) {
      int count = Math.min(left, PAGE_MAX);
      JsonNode page = gateway.get(GatewayCalls.path(path, "after", after, "limit", count));
      List<JsonNode> entries = new ArrayList<>();
      page.path("data").forEach(entries::add);
      output.rows(entries, "number", "at", "actor", "action", "subjects", "detail");
      if (!page.path("has_more").asBoolean(false)) {
        return;
      }
      after = entries.getLast().path("number");
    }
    output.note("There are older entries. Raise --limit, or export.");
  }

  @Command(
      name = "export",
      description = "Writes all changes, oldest first, as NDJSON, with and without --json.",
      footer = "  coatcheck audit export --from 2026-01-01T00:00:00Z --output audit.ndjson")
  void export(
      @Mixin GatewayCalls gateway,
      @Mixin Output json,
      @Mixin AuditFlags wanted,
      @Mixin OutputFile target)
      throws CommandFailed {
    target.write(gateway.download(wanted.path("/v1/audit/export")));
  }

  @Command(
      name = "prune",
      description = {
        "Deletes old entries, directly in the database, as the owner of its tables.",
        "That is audited too. Export the entries first."
      },
      footer = "  coatcheck audit prune --before 2025-01-01")
  void prune(
      @Mixin Settings settings,
      @Mixin Output output,
      @Option(
              names = "--before",
              paramLabel = "DAY",
              required = true,
              description = "The first day, in UTC, whose entries stay; today at the latest.")
          String day)
      throws CommandFailed, StartFailed {
    Instant before = beginOf(day);
    Optional<AuditPruning.Span> pruned = pruned(settings, before);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("before", before.toString());
    fields.put("entries", pruned.map(AuditPruning.Span::entries).orElse(0L));
    output.print(
        fields,
        pruned
            .map(span -> "pruned the entries %d to %d".formatted(span.first(), span.last()))
            .orElse("no entry is older"));
  }

  private static Instant beginOf(String day) throws CommandFailed {
    try {
      Instant begin = LocalDate.parse(day).atStartOfDay().toInstant(ZoneOffset.UTC);
      if (!begin.isAfter(InstantSource.system().instant())) {
        return begin;
      }
    } catch (DateTimeParseException malformed) {
      // refused below
    }
    throw new Misused("--before must be a day such as 2025-01-31, today at the latest.");
  }

  private static Optional<AuditPruning.Span> pruned(Settings settings, Instant before)
      throws CommandFailed, StartFailed {
    try (OpenDatabase opened = OpenDatabase.openExisting(settings.config(), new Observer())) {
      return Deadline.after(PRUNING_MAX)
          .call(() -> new AuditPruning(opened.database()).prune(before, Actor.operator()));
    }
  }
}

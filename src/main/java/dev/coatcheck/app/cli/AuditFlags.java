package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.GatewayCalls;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Which entries of the audit are wanted. */
@Command
final class AuditFlags {
  @Option(
      names = "--subject",
      paramLabel = "SUBJECT",
      description = "What was changed: a public ID, the name of a type, the ID of an API key …")
  private @Nullable String subject;

  @Option(
      names = "--actor",
      paramLabel = "ACTOR",
      description = "Who did it: a principal, or operator.")
  private @Nullable String actor;

  @Option(
      names = "--action",
      paramLabel = "ACTION",
      description = "What was done, for instance id.revoke.")
  private @Nullable String action;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      description = "First time, for instance 2026-01-31T12:00:00Z.")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "TIME", description = "Time before which entries end.")
  private @Nullable String to;

  String path(String base) {
    return GatewayCalls.path(
        base, "subject", subject, "actor", actor, "action", action, "from", from, "to", to);
  }
}

package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.GatewayCalls;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Which entries of the audit are wanted. */
@Command
final class AuditFlags {
  @Option(
      names = "--subject",
      description = "What was changed: a public ID, the name of a type, the ID of an API key …")
  private @Nullable String subject;

  @Option(names = "--actor", description = "Who did it: a principal, or operator.")
  private @Nullable String actor;

  @Option(names = "--action", description = "What was done, for instance id.revoke.")
  private @Nullable String action;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      description = "First time, for instance 2026-01-31T12:00:00Z.")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "TIME", description = "Time before which entries end.")
  private @Nullable String to;

  /** As parameters of a query, each with an ampersand after it. */
  String query() {
    return Stream.of(
            parameter("subject", subject),
            parameter("actor", actor),
            parameter("action", action),
            parameter("from", from),
            parameter("to", to))
        .flatMap(Optional::stream)
        .collect(Collectors.joining());
  }

  private static Optional<String> parameter(String name, @Nullable String value) {
    return Optional.ofNullable(value).map(text -> name + "=" + GatewayCalls.segment(text) + "&");
  }
}

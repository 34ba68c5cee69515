package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.ExitCode;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.NoAnswer;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.Reply;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/**
 * {@code coatcheck types apply}: a put for each type that differs, on the condition that the type
 * is still as it was compared. A put that is refused does not keep the others from being sent.
 */
@Command(
    name = "apply",
    description = {
      "Creates and changes types until the gateway has them as the file says, and prints each.",
      "Types that are not in the file are left alone. Exits with 1 if a change was refused; the"
          + " others are done, and the same command tries the rest again."
    },
    footer = "  coatcheck types apply -f types.yaml")
public final class ApplyVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Mixin private FileOption file = new FileOption();

  @Option(
      names = "--confirm-links",
      description = "Make changes also if they end links that have a target today.")
  private boolean confirmLinks;

  @Spec private CommandSpec spec;

  /** What a put was answered. */
  private record Refused(TypesPlan.Change change, CommandFailed why) {}

  @Override
  public Integer call() throws CommandFailed {
    TypesPlan plan = TypesPlan.of(TypesFile.read(file.path(), System::getenv), gateway);
    List<TypesPlan.Change> due = plan.changes();
    List<Refused> refused = List.of();
    int done = 0;
    // What one type is refused for, a change of another one may take away: a URL template that
    // names a type further down, or that moves from one type to another.
    do {
      done = 0;
      refused = new ArrayList<>();
      for (int i = 0; i < due.size(); i++) {
        try {
          Reply reply = put(due.get(i));
          if (reply.isSuccess()) {
            print(due.get(i), reply.body());
            done++;
          } else {
            refused.add(new Refused(due.get(i), reply.failure()));
          }
        } catch (NoAnswer gone) {
          refused.add(new Refused(due.get(i), gone));
          report(refused);
          notTried(due.subList(i + 1, due.size()));
          return ExitCode.FAILED.status();
        }
      }
      due = refused.stream().map(Refused::change).toList();
    } while (done > 0 && !due.isEmpty());
    report(refused);
    plan.printUnmanaged(output);
    return (refused.isEmpty() ? ExitCode.DONE : ExitCode.FAILED).status();
  }

  private Reply put(TypesPlan.Change change) throws CommandFailed {
    return gateway.putIf(
        change.path() + (confirmLinks ? "?confirm=links" : ""),
        change.declared().body(),
        change.etag());
  }

  private void print(TypesPlan.Change change, JsonNode type) throws CommandFailed {
    String action = change.version().isEmpty() ? "created" : "changed";
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("type", change.name());
    json.put("action", action);
    json.put("version", type.path("version").asInt());
    output.print(json, change.name() + ": " + action + ", version " + type.path("version").asInt());
  }

  private void report(List<Refused> refused) throws CommandFailed {
    for (Refused each : refused) {
      say(each.change(), each.why() instanceof NoAnswer ? "unknown" : "refused");
      spec.commandLine()
          .getErr()
          .println(
              spec.qualifiedName() + ": " + each.change().name() + ": " + each.why().getMessage());
    }
  }

  private void notTried(List<TypesPlan.Change> rest) throws CommandFailed {
    for (TypesPlan.Change change : rest) {
      say(change, "not_tried");
    }
  }

  private void say(TypesPlan.Change change, String action) throws CommandFailed {
    output.print(
        Map.of("type", change.name(), "action", action),
        change.name() + ": " + action.replace('_', ' '));
  }
}

package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck find}: identifies a text of any kind. */
@Command(
    name = "find",
    description = {
      "Says what a text is: a public ID, a key, a legacy ID, a client ID, a public ID of an older"
          + " system, or an ID from elsewhere.",
      "Prints its type, its key, where its link leads, its aliases, and how it ended. A number can"
          + " be several things."
    },
    footer = "  coatcheck find 4711")
final class FindVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "TEXT", description = "The text, exactly as it was issued.")
  private String text;

  @Option(
      names = "--client-namespace",
      paramLabel = "NAMESPACE",
      description = "Namespace of a client ID. Default: that of the API key's principal.")
  private @Nullable String namespace;

  @Override
  public Integer call() throws CommandFailed {
    List<JsonNode> findings = new Finder(gateway, text, namespace).findings();
    if (findings.isEmpty()) {
      throw new CommandFailed("nothing is known about this text.");
    }
    for (int i = 0; i < findings.size(); i++) {
      if (i > 0 && !output.isJson()) {
        spec.commandLine().getOut().println();
      }
      output.fields(findings.get(i));
    }
    return 0;
  }
}

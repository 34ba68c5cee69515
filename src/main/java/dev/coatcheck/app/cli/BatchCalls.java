package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.ReaderGone;
import dev.coatcheck.app.client.Reply;
import dev.coatcheck.core.observe.RootCause;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Gatherers;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/**
 * Sends the items of a verb in batches, and counts the answers, so that a failure says how many
 * items were done. A mixin with the options of a call.
 */
@Command
final class BatchCalls {
  static final int ITEMS_MAX = 1_000;

  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  private int answered;
  private int refused;

  int sendAll(String path, List<String> arguments, Function<List<String>, Object> body)
      throws CommandFailed {
    if (arguments.stream().anyMatch(String::isBlank)) {
      throw new ParameterException(
          command.commandLine(), "An argument is empty. Is a variable of the shell not set?");
    }
    boolean fromInput = arguments.isEmpty() || arguments.equals(List.of("-"));
    // Standard input is not ours to close.
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      Iterator<List<String>> batches = batches(fromInput ? input.lines() : arguments.stream());
      while (batches.hasNext()) {
        List<String> batch = batches.next();
        send(path, body.apply(batch), batch);
      }
    } catch (UncheckedIOException broken) {
      throw new CommandFailed("can't read standard input: " + RootCause.of(broken).getMessage());
    }
    return status();
  }

  /**
   * The lines that aren't blank, by as many as a call takes. They are read as they are asked for.
   */
  static Iterator<List<String>> batches(Stream<String> lines) {
    return lines
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .gather(Gatherers.windowFixed(ITEMS_MAX))
        .iterator();
  }

  /**
   * @param inputs what its items were made of; empty for generated keys
   */
  void send(String path, Object body, List<String> inputs) throws CommandFailed {
    try {
      JsonNode answer = gateway.post(path, body);
      print(inputs, answer.path("data"));
    } catch (CommandFailed failed) {
      throw answered == 0 || (failed instanceof ReaderGone && ReaderGone.isQuiet())
          ? failed
          : new CommandFailed(
              failed.getMessage() + " Before the failure, " + answered + " items were answered.");
    }
  }

  int status() {
    if (refused > 0) {
      output.note("%s: %d of %d refused.".formatted(command.qualifiedName(), refused, answered));
    }
    return refused == 0 ? 0 : 1;
  }

  private void print(List<String> inputs, JsonNode items) throws CommandFailed {
    List<JsonNode> found = new ArrayList<>();
    for (JsonNode item : items) {
      JsonNode id = item.path("public_id");
      answered++;
      if (id.isObject()) {
        found.add(id);
      } else {
        refused++;
        complain(
            inputs.isEmpty() ? "item " + answered : inputs.get(item.path("index").asInt()),
            item.path("error"));
      }
    }
    if (!found.isEmpty()) {
      output.rows(found, "id", "type", "key");
    }
  }

  private void complain(String input, JsonNode error) {
    output.note(
        "%s: %s. %s"
            .formatted(
                input,
                error.path("code").asString(),
                Reply.forTerminal(error.path("detail").asString())));
  }
}

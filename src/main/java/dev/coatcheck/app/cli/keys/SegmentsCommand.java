package dev.coatcheck.app.cli.keys;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code coatcheck segments}: the counters behind {@code keys next --scheme segment}. */
@Command(
    name = "segments",
    addMethodSubcommands = false,
    description = "Creates and lists counters of dense numbers.")
public final class SegmentsCommand {
  private static final String[] COLUMNS = {"tag", "granted", "remaining"};

  @Command(
      name = "put",
      description = "Creates a segment, or changes its steps.",
      footer = "  coatcheck segments put invoice --start 1000")
  void put(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "TAG", description = "Name of the segment.") String tag,
      @Option(
              names = "--start",
              paramLabel = "N",
              defaultValue = "1",
              description = "First number. Default: ${DEFAULT-VALUE}.")
          String start,
      @Option(
              names = "--stride",
              paramLabel = "N",
              defaultValue = "1",
              description = "Distance of a number to the next. Default: ${DEFAULT-VALUE}.")
          int stride,
      @Option(
              names = "--bits",
              paramLabel = "N",
              defaultValue = "64",
              description = "32 for columns of type integer, or 64. Default: ${DEFAULT-VALUE}.")
          int bits,
      @Option(
              names = "--step-min",
              paramLabel = "N",
              defaultValue = "1000",
              description = "Smallest range of an instance. Default: ${DEFAULT-VALUE}.")
          int stepMin,
      @Option(
              names = "--step-max",
              paramLabel = "N",
              defaultValue = "100000",
              description = "Largest range of an instance. Default: ${DEFAULT-VALUE}.")
          int stepMax)
      throws CommandFailed {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("start", start);
    body.put("stride", stride);
    body.put("bits", bits);
    body.put("step_min", stepMin);
    body.put("step_max", stepMax);
    output.rows(List.of(gateway.put("/v1/segments/" + GatewayCalls.segment(tag), body)), COLUMNS);
  }

  @Command(
      name = "list",
      description =
          "Prints a segment a line: its tag, how many numbers were granted, how many not.",
      footer = "  coatcheck segments list")
  void list(@Mixin GatewayCalls gateway, @Mixin Output output) throws CommandFailed {
    output.rows(gateway.get("/v1/segments").path("data"), COLUMNS);
  }
}

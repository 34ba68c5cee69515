package dev.coatcheck.app.cli.migrate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** The throttle settings of a run as options. An option that is left out changes nothing. */
@Command
final class ThrottleFlags {
  private record NumberFlag(String flag, String description) {}

  /** In the order of the help, of which a release keeps copies for the shells. */
  private static final List<NumberFlag> NUMBERS =
      List.of(
          new NumberFlag("--batch-millis", "How long a batch should take, 20 to 10000."),
          new NumberFlag(
              "--rows-per-second-max", "Rows filled in a second, up to 1000000; 0: no limit."),
          new NumberFlag(
              "--wal-megabytes-per-second-max",
              "Wait while the source writes more WAL than this; 0: no limit."),
          new NumberFlag("--replica-lag-seconds-max", "Wait while a replica lags more than this."),
          new NumberFlag(
              "--slot-megabytes-max", "Wait while a replication slot keeps more WAL than this."),
          new NumberFlag(
              "--lock-waits-max", "Wait while more sessions than this wait for the table."),
          new NumberFlag(
              "--long-transaction-seconds-max", "Wait while a transaction is older than this."),
          new NumberFlag(
              "--latency-millis-max", "Wait while the read of a row takes longer than this."),
          new NumberFlag(
              "--vacuum-seconds-max", "Wait for a vacuum of the table, but not longer than this."));

  private final List<OptionSpec> options = new ArrayList<>();

  @Spec(Spec.Target.SELF)
  void addTo(CommandSpec mixin) {
    for (NumberFlag number : NUMBERS) {
      add(mixin, number.flag(), Long.class, "NUMBER", number.description());
    }
    add(
        mixin,
        "--archive-failures",
        Boolean.class,
        "true|false",
        "Whether the run waits while the source can't archive WAL.");
  }

  private void add(
      CommandSpec mixin, String name, Class<?> type, String label, String description) {
    OptionSpec option =
        OptionSpec.builder(name)
            .type(type)
            .arity("1")
            .paramLabel(label)
            .description(description)
            .build();
    mixin.addOption(option);
    options.add(option);
  }

  /** The fields of a request, one for each option that was given. */
  Map<String, Object> body() {
    Map<String, Object> body = new LinkedHashMap<>();
    for (OptionSpec option : options) {
      Object value = option.getValue();
      if (value != null) {
        body.put(option.longestName().substring(2).replace('-', '_'), value);
      }
    }
    return body;
  }
}

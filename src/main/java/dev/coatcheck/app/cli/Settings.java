package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags of all settings, for each command that opens the gateway or its database. */
@Command
final class Settings {
  private final Map<Setting, String> flags = new EnumMap<>(Setting.class);

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * To the mixin, not to the command: picocli counts the options of a mixin to find its arguments.
   */
  @Spec(Spec.Target.SELF)
  void addTo(CommandSpec mixin) {
    for (Setting setting : Setting.values()) {
      mixin.addOption(
          OptionSpec.builder(setting.flag())
              .type(setting.isTurnedOff() ? Boolean.class : String.class)
              .arity(setting.isTurnedOff() ? "0" : "1")
              .hidden(setting.isSecret())
              .paramLabel(setting.name())
              .description(
                  setting.description()
                      + setting.otherwise().map(value -> " Default: " + value + ".").orElse("")
                      + " ["
                      + setting.variable()
                      + "]")
              .setter(
                  new picocli.CommandLine.Model.ISetter() {
                    @Override
                    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
                    public <T> T set(T value) {
                      if (value != null) {
                        requirePublic(setting);
                        flags.put(setting, setting.isTurnedOff() ? "false" : value.toString());
                      }
                      return value;
                    }
                  })
              .build());
    }
  }

  /** The flag of a secret exists only so that its refusal doesn't print the secret. */
  private void requirePublic(Setting setting) {
    if (setting.isSecret()) {
      throw new ParameterException(
          command.commandLine(),
          "%s is refused, because every user of this machine can read flags: set %s or %s_FILE."
              .formatted(setting.flag(), setting.variable(), setting.variable()));
    }
  }

  /** The configuration, or all its faults in one message. */
  Config config() throws CommandFailed {
    return switch (Config.read(System.getenv(), flags)) {
      case Config.Parsed.Valid(Config config) -> config;
      case Config.Parsed.Invalid(List<String> faults) ->
          throw new Misused(
              "the configuration has "
                  + (faults.size() == 1 ? "a fault" : faults.size() + " faults")
                  + ":\n  - "
                  + String.join("\n  - ", faults));
    };
  }
}

package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coatcheck access}: makes, lists and ends API keys, in the database itself. */
@Command(
    name = "access",
    description = "Makes, lists and ends API keys.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      AccessCommand.Create.class,
      AccessCommand.Keys.class,
      AccessCommand.Revoke.class
    })
final class AccessCommand {

  /** {@code coatcheck access create}. */
  @Command(
      name = "create",
      description = "Makes a key and prints it, once.",
      mixinStandardHelpOptions = true)
  static final class Create implements Callable<Integer> {
    @Mixin private Settings settings = new Settings();
    @Spec private CommandSpec spec;

    @Option(names = "--name", required = true, description = "Whose key it is.")
    private String name;

    @Option(
        names = "--scope",
        required = true,
        split = ",",
        description = "What it may do: * for all, or for instance ids:read.")
    private List<String> scopes;

    @Option(names = "--valid-days", description = "Days until it expires. Default: never.")
    private @Nullable Integer validDays;

    @Override
    public Integer call() throws CommandFailed {
      if (name.isBlank() || name.length() > 100) {
        throw new CommandFailed("--name must have 1 to 100 characters.");
      }
      if (validDays != null && (validDays < 1 || validDays > 3_650)) {
        throw new CommandFailed("--valid-days must be 1 to 3650.");
      }
      Set<Scope> wanted = scopes(scopes);
      Optional<Duration> validFor = Optional.ofNullable(validDays).map(Duration::ofDays);
      Access.Issued issued = withAccess(settings, access -> access.create(name, wanted, validFor));
      spec.commandLine().getOut().println(issued.key().secretText());
      spec.commandLine()
          .getErr()
          .println(
              "This is shown only now. To end it: coatcheck access revoke " + issued.key().id());
      return 0;
    }
  }

  /** {@code coatcheck access list}. */
  @Command(
      name = "list",
      description = "Lists the keys; their secrets are not kept anywhere.",
      mixinStandardHelpOptions = true)
  static final class Keys implements Callable<Integer> {
    @Mixin private Settings settings = new Settings();
    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws CommandFailed {
      for (StoredKey key : withAccess(settings, Access::list)) {
        spec.commandLine()
            .getOut()
            .printf(
                "%s  %-8s  %s  %s  %s%n",
                key.keyId(),
                key.revokedAt().isPresent() ? "revoked" : "active",
                key.createdAt(),
                key.scopes().stream().map(Scope::name).sorted().collect(Collectors.joining(",")),
                key.name());
      }
      return 0;
    }
  }

  /** {@code coatcheck access revoke}. */
  @Command(name = "revoke", description = "Ends a key for good.", mixinStandardHelpOptions = true)
  static final class Revoke implements Callable<Integer> {
    @Mixin private Settings settings = new Settings();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "KEY_ID", description = "As shown by list.")
    private String keyId;

    @Override
    public Integer call() throws CommandFailed {
      if (!withAccess(settings, access -> access.revoke(keyId))) {
        throw new CommandFailed("there is no active key of that ID.");
      }
      spec.commandLine().getOut().println("revoked " + keyId);
      return 0;
    }
  }

  private static <T> T withAccess(Settings settings, Function<Access, T> work)
      throws CommandFailed {
    Observer observer = new Observer();
    try (OpenDatabase opened = OpenDatabase.openBeside(settings.config(), observer)) {
      return work.apply(
          new Access(
              opened.database(),
              Access.Trust.none(),
              new RandomSource(),
              observer,
              InstantSource.system()));
    } catch (StartFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    }
  }

  private static Set<Scope> scopes(List<String> names) throws CommandFailed {
    try {
      return names.stream().map(Scope::new).collect(Collectors.toCollection(LinkedHashSet::new));
    } catch (IllegalArgumentException odd) {
      throw new CommandFailed(String.valueOf(odd.getMessage()));
    }
  }
}

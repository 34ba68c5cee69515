package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Grants;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code coatcheck database}: the schema and its roles, for the owner of the schema. */
@Command(
    name = "database",
    description = "Migrates the schema of the gateway, and prints what a role needs to use it.")
final class DatabaseCommand {

  @Command(
      name = "migrate",
      description =
          "Applies the migrations that the schema lacks, as the role that owns it, and prints"
              + " them.",
      footer = "  coatcheck database migrate --database-user coatcheck_owner")
  int migrate(@Mixin Settings settings, @Mixin Output output) throws CommandFailed {
    List<String> applied;
    try (OpenDatabase opened = OpenDatabase.migrate(settings.config(), new Observer())) {
      applied = opened.applied();
    } catch (StartFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    }
    output.print(
        Output.object(Map.of("applied", applied)),
        applied.isEmpty()
            ? "The schema is up to date; nothing was applied."
            : "applied " + String.join("\napplied ", applied));
    return 0;
  }

  @Command(
      name = "grants",
      description =
          "Prints the statements that let a role use the schema without owning it. Runs nothing.",
      footer = "  coatcheck database grants --to coatcheck_gateway | psql shop")
  int grants(
      @Option(names = "--to", required = true, description = "Name of the role.") String role,
      @Mixin Output output)
      throws CommandFailed {
    Optional<String> fault = Grants.fault(role);
    if (fault.isPresent()) {
      throw new Misused("--to " + fault.get() + ".");
    }
    String sql = Grants.sql(role);
    output.print(Output.object(Map.of("role", role, "sql", sql)), sql.stripTrailing());
    return 0;
  }
}

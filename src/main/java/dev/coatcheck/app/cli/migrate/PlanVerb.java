package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck migrate-table plan}. */
@Command(
    name = "plan",
    description = {
      "Prints the steps of a table migration, how long they take, and the preconditions that your",
      "application has to meet. Changes nothing on the table."
    },
    footer = {
      "  coatcheck migrate-table plan --table shop.orders --type order \\",
      "      --created-at-column created_at"
    })
final class PlanVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();

  @Option(
      names = "--table",
      required = true,
      paramLabel = "TABLE",
      description = "TABLE or SCHEMA.TABLE, in the spelling of the catalog.")
  private String table;

  @Option(
      names = "--type",
      paramLabel = "NAME",
      required = true,
      description = "Name of the type that the rows get public IDs of.")
  private String type;

  @Option(
      names = "--source",
      paramLabel = "NAME",
      defaultValue = "gateway",
      description = "Name of the source that has the table. Default: ${DEFAULT-VALUE}.")
  private String source;

  @Option(
      names = "--created-at-column",
      paramLabel = "COLUMN",
      description = "Column with the time at which a row was made; keys contain this time.")
  private @Nullable String createdAtColumn;

  @Option(
      names = "--keep-primary-key",
      description = "Leave the primary key on its column; add a unique column that is not null.")
  private boolean keepPrimaryKey;

  @Option(
      names = "--application-search-path",
      paramLabel = "PATH",
      description =
          "Search path for the triggers and checks of the table. Default: the path in the settings"
              + " of the table's owner.")
  private @Nullable String applicationSearchPath;

  @Option(names = "--sql", description = "Print every statement, and the statement that undoes it.")
  private boolean withSql;

  @Override
  public Integer call() throws CommandFailed {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("source", source);
    body.put("table", table);
    body.put("type", type);
    body.put("keep_primary_key", keepPrimaryKey);
    body.put("created_at_column", createdAtColumn);
    body.put("application_search_path", applicationSearchPath);
    JsonNode run = gateway.post(RunCalls.RUNS, body);
    output.print(run, out -> new PlanText(out).print(run, withSql));
    return 0;
  }
}

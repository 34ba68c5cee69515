package dev.coatcheck.migrate.run;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.sql.schema.tables.records.TableMigrationRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** A run as its row in the database says. */
final class RunRowTable {
  private static final JsonMapper JSON = new JsonMapper();

  private RunRowTable() {}

  /** As the database keeps plans, throttle settings and reports. */
  static String json(Object value) {
    return JSON.writeValueAsString(value);
  }

  static <T> T read(String json, Class<T> type) {
    return JSON.readValue(json, type);
  }

  /** Of statements, by their IDs. */
  static Map<String, Long> calls(String json) {
    Map<String, Long> calls = new HashMap<>();
    JSON.readTree(json).forEachEntry((id, number) -> calls.put(id, number.asLong()));
    return calls;
  }

  static TableMigration run(TableMigrationRecord row) {
    Optional<Target.TimeColumn> createdAt =
        Optional.ofNullable(row.getCreatedAtColumn())
            .map(name -> new Target.TimeColumn(name, String.valueOf(row.getCreatedAtType())));
    return new TableMigration(
        row.getMigrationId(),
        row.getSource(),
        new Target(
            row.getRun(),
            new TableName(row.getTableSchema(), row.getTableName()),
            row.getTableOid(),
            row.getKeyColumn(),
            row.getKeyType(),
            createdAt,
            new Target.Anchors(
                new TableName(row.getFirstSchema(), row.getFirstName()),
                row.getKeyAttnum(),
                Objects.requireNonNullElse(row.getCreatedAtAttnum(), 0)),
            SearchPath.parse(row.getApplicationPath()).orElseThrow(),
            List.of(read(row.getChildren().data(), Child[].class))),
        row.getTypeId(),
        row.getKeepPrimaryKey(),
        read(row.getPlan().data(), Plan.class),
        new TableMigration.Status(
            WireNamed.find(RunState.class, row.getState()).orElseThrow(),
            row.getOccupies(),
            WireNamed.find(Goal.class, row.getGoal()).orElseThrow(),
            Optional.ofNullable(row.getUndoPhase())
                .flatMap(name -> WireNamed.find(Phase.class, name)),
            Optional.ofNullable(row.getReason()),
            Optional.ofNullable(row.getWaitsFor()).map(wait -> read(wait.data(), LockWait.class))),
        read(row.getThrottleSettings().data(), ThrottleSettings.class),
        List.of(row.getAccepted()),
        new Progress(
            row.getRowsTotal(),
            row.getWorkedMillis(),
            new Checkpoint.Counts(
                row.getRowsDone(),
                row.getTimesLost(),
                row.getBeforeEpoch(),
                row.getRowsSetAside())),
        row.getReport() == null ? null : row.getReport().data(),
        new SwitchWindow(
            Optional.ofNullable(row.getSwitchNotBefore()),
            Optional.ofNullable(row.getSwitchNotAfter())),
        new TableMigration.Times(
            row.getCreatedAt(),
            Optional.ofNullable(row.getStartedAt()),
            Optional.ofNullable(row.getEndedAt())));
  }
}

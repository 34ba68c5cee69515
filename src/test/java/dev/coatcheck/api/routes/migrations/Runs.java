package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.json;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;

/** The table migrations of a gateway, over HTTP. A table and its type have the same name. */
public record Runs(GatewayFixture gateway, TestClient api) {
  public static final String PATH = "/v1/table-migrations";

  public static Runs of(GatewayFixture gateway) {
    return new Runs(gateway, gateway.client());
  }

  public void type(String name) {
    api.put(TestType.of(name, name).with("legacy", Map.of()));
  }

  /** In the schema public, whatever the role is called. */
  public void table(String name, int rows) {
    type(name);
    gateway
        .sql()
        .execute(
            "create table public.%s (id bigserial primary key)".formatted(name),
            "insert into public.%s select from generate_series(1, %d)".formatted(name, rows));
  }

  public Reply plan(String table) {
    return api.post(PATH, json("table", table, "type", table));
  }

  public static String path(Reply planned) {
    return PATH + "/" + planned.text("/id");
  }

  /** The body of a start that accepts whatever the plan asks for. */
  public String accept(String run) {
    return json("accept", api.get(run).body().at("/plan/preconditions").findValuesAsString("code"));
  }

  public Reply start(String run) {
    return api.post(run + "/start", accept(run));
  }

  /** Waits for a state; a run that fails ends the test with its reason. */
  public Reply await(String run, String state) {
    return Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              Reply now = api.get(run);
              if (now.text("/state").equals("failed")) {
                throw new AssertionError(now.body().at("/reason").asString());
              }
              return now;
            },
            now -> now.text("/state").equals(state));
  }
}

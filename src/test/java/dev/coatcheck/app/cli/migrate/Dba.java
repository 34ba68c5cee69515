package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A running gateway, and the terminal of somebody who may migrate tables. */
final class Dba implements AutoCloseable {
  private static final Pattern RUN = Pattern.compile("Run ([0-9]+)");
  private static final String SCOPES =
      "--scope=types:write,table_migrations:read,table_migrations:write,ids:read";

  final TestDatabase database;
  final Gateway gateway;
  private final Path keyFile;

  private Dba(TestDatabase database, Gateway gateway, Path keyFile) {
    this.database = database;
    this.gateway = gateway;
    this.keyFile = keyFile;
  }

  /** With tables beside the mappings. */
  static Dba at(TestDatabase database, Path folder) throws Exception {
    return at(database, Map.of(), folder);
  }

  /** With further settings of the gateway. */
  static Dba at(TestDatabase database, Map<String, String> settings, Path folder) throws Exception {
    Map<String, String> environment = new HashMap<>(settings);
    environment.put("COATCHECK_PORT", "0");
    environment.put("COATCHECK_DATABASE_URL", database.url());
    environment.put("COATCHECK_DATABASE_USER", database.user());
    environment.put("COATCHECK_DATABASE_PASSWORD", database.password());
    if (!(Config.read(environment, Map.of()) instanceof Config.Parsed.Valid(Config config))) {
      throw new AssertionError();
    }
    Gateway gateway = Gateway.start(config);
    List<String> create = new ArrayList<>(List.of("access", "create", "--name=dba", SCOPES));
    create.addAll(database.flags());
    Terminal made = Terminal.run(create.toArray(String[]::new));
    return new Dba(database, gateway, Files.writeString(folder.resolve("key"), made.out()));
  }

  /** A command with the address of the gateway and the key. */
  Terminal send(List<String> words) {
    return Terminal.run(arguments(words).toArray(String[]::new));
  }

  Terminal run(String... arguments) {
    List<String> words = new ArrayList<>(List.of("migrate-table"));
    words.addAll(Arrays.asList(arguments));
    return send(words);
  }

  /** With what the plan told to send. */
  Terminal start(Terminal plan, String... more) {
    String next = plan.lines().getLast();
    List<String> words =
        new ArrayList<>(Arrays.asList(next.substring(next.indexOf("start ")).split(" ", -1)));
    words.addAll(Arrays.asList(more));
    return run(words.toArray(String[]::new));
  }

  static String id(Terminal plan) {
    return RUN.matcher(plan.out()).results().findFirst().orElseThrow().group(1);
  }

  /** In the schema public, whatever the role is called, with a type of the same name. */
  void table(String name, int rows) {
    execute(
        "create table public.%s (id bigserial primary key)".formatted(name),
        "insert into public.%s select from generate_series(1, %d)".formatted(name, rows));
    assertThat(send(List.of("types", "put", name, "--prefix=" + name)).status()).isZero();
  }

  List<String> arguments(List<String> words) {
    List<String> all = new ArrayList<>(words);
    all.add("--url=" + gateway.url());
    all.add("--key-file=" + keyFile);
    return all;
  }

  /** Where a link of this path leads. */
  String followed(String path) throws Exception {
    HttpResponse<Void> followed =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(gateway.url() + path)).build(),
                HttpResponse.BodyHandlers.discarding());
    return followed.headers().firstValue("Location").orElse("nowhere");
  }

  void execute(String... statements) {
    database.sql().execute(statements);
  }

  @Override
  public void close() {
    gateway.close();
  }
}

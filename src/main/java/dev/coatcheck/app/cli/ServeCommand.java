package dev.coatcheck.app.cli;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.boot.UnknownVariables;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck serve}: runs the gateway until it is told to stop. */
@Command(
    name = "serve",
    description = "Runs the gateway, with an embedded Postgres unless --database-url is given.",
    sortOptions = false,
    footer = "  coatcheck serve --port 8080")
final class ServeCommand implements Callable<Integer> {
  @Mixin private Settings settings = new Settings();
  @Mixin private Output output = new Output();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws CommandFailed, StartFailed, InterruptedException {
    Config config = settings.config();
    UnknownVariables.named(System.getenv().keySet()).forEach(spec.commandLine().getErr()::println);
    Gateway gateway = Gateway.start(config);
    CountDownLatch stopped = new CountDownLatch(1);
    AtomicBoolean isWithoutDatabase = new AtomicBoolean();
    gateway.onDatabaseEnd(
        () -> {
          isWithoutDatabase.set(true);
          stopped.countDown();
        });
    try {
      gateway.closeAtExit(stopped::countDown);
    } catch (IllegalStateException toldToEnd) {
      return 0;
    }
    // Without a look at the reader: a gateway runs on after its greeting was read.
    PrintWriter out = spec.commandLine().getOut();
    if (output.isJson()) {
      out.println(greeting(gateway, config));
    } else {
      greet(out, gateway, config);
    }
    stopped.await();
    if (isWithoutDatabase.get()) {
      throw new CommandFailed(
          "the embedded Postgres has ended; %s says why. Start the gateway again."
              .formatted(config.home().resolve("postgres.log")));
    }
    return 0;
  }

  private static JsonNode greeting(Gateway gateway, Config config) {
    Map<String, @Nullable Object> greeting = new LinkedHashMap<>();
    greeting.put("url", gateway.url());
    greeting.put("database", describeDatabase(config));
    gateway.console().ifPresent(address -> greeting.put("console", address));
    gateway.publicPort().ifPresent(port -> greeting.put("public_port", port));
    gateway.managementPort().ifPresent(port -> greeting.put("management_port", port));
    gateway.developmentKey().ifPresent(file -> greeting.put("key_file", file.toString()));
    return Output.object(greeting);
  }

  private static void greet(PrintWriter out, Gateway gateway, Config config) {
    out.println("Coatcheck listens on " + gateway.url());
    out.println("  database  " + describeDatabase(config));
    out.println("  API       " + gateway.url() + "/docs");
    gateway.console().ifPresent(address -> out.println("  console   " + address));
    gateway
        .publicPort()
        .ifPresent(port -> out.println("  public    port " + port + ", links and health only"));
    gateway
        .managementPort()
        .ifPresent(
            port -> out.println("  metrics   http://" + config.host() + ":" + port + "/metrics"));
    gateway
        .developmentKey()
        .ifPresentOrElse(
            file -> {
              out.println("  key       " + file + " (for development; keep it secret)");
              out.println();
              out.print(tryIt(gateway.url(), file));
              out.flush();
            },
            () -> out.println("  keys      coatcheck access create --name NAME --scope '*'"));
  }

  /** A first minute: a type, a public ID of the row with the key 42, and that key again. */
  private static String tryIt(String url, Path keyFile) {
    return """
    Try it in another terminal: a type, a public ID for your row 42, and the row of that public ID.
      KEY="Authorization: Bearer $(cat %2$s)" JSON="Content-Type: application/json"
      curl -sS -X PUT %1$s/v1/types/coat -H "$KEY" -H "$JSON" -d '{"prefix":"coat","key":"bigint"}'
      ID=$(curl -sS %1$s/v1/ids -H "$KEY" -H "$JSON" \\
        -d '{"type":"coat","key":"42"}' | grep -o 'coat_[0-9A-Za-z]*')
      curl -sS %1$s/v1/ids/$ID -H "$KEY"
    """
        .formatted(url, Display.shellWord(keyFile.toAbsolutePath().toString()));
  }

  private static String describeDatabase(Config config) {
    return config
        .database()
        .map(settings -> settings.url())
        .orElse("embedded Postgres in " + config.home());
  }
}

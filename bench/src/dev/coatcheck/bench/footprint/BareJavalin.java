package dev.coatcheck.bench.footprint;

import dev.coatcheck.bench.machine.GatewayProcess;
import io.javalin.Javalin;

/** A server that does nothing, in a process of its own: what a start costs without a gateway. */
final class BareJavalin {
  private BareJavalin() {}

  public static void main(String[] arguments) {
    Javalin server =
        Javalin.create(
            config -> {
              config.startup.showJavalinBanner = false;
              config.startup.showOldJavalinVersionWarning = false;
              config.startup.startupWatcherEnabled = false;
              config.routes.get(StartSpeed.PATH, context -> context.result("ready"));
            });
    server.start("127.0.0.1", 0);
    System.out.println(GatewayProcess.GREETING + "http://127.0.0.1:" + server.port());
  }
}

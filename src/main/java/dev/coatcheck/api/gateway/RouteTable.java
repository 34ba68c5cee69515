package dev.coatcheck.api.gateway;

import dev.coatcheck.api.console.ConsoleRoutes;
import dev.coatcheck.api.routes.ChangeRoutes;
import dev.coatcheck.api.routes.IdRoutes;
import dev.coatcheck.api.routes.MintRoutes;
import dev.coatcheck.api.routes.OperationsRoutes;
import dev.coatcheck.api.routes.migrations.TableMigrationRoutes;
import dev.coatcheck.api.routes.urls.ProxyRoutes;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.api.server.Routes;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All routes of the gateway.
 *
 * @param redirects may be answered without a request thread, like {@code ids}, {@code proxies} and
 *     {@code mints}
 * @param operations are on the management port too
 * @param runs have streams, which end before the server, like those of {@code changes}
 * @param console on one of the two ports, or empty
 */
public record RouteTable(
    RedirectRoutes redirects,
    IdRoutes ids,
    ProxyRoutes proxies,
    MintRoutes mints,
    OperationsRoutes operations,
    TableMigrationRoutes runs,
    ChangeRoutes changes,
    List<Routes> others,
    Optional<ConsoleRoutes> console) {

  Stream<Routes> all() {
    return Stream.concat(
        Stream.of(redirects, ids, proxies, mints, operations, runs, changes), others.stream());
  }
}

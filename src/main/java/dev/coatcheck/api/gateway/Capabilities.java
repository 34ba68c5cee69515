package dev.coatcheck.api.gateway;

import dev.coatcheck.bulk.load.Transfers;
import dev.coatcheck.cluster.lease.KeyGenerators;
import dev.coatcheck.cluster.lease.Workers;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.url.UrlPublisher;
import dev.coatcheck.ids.url.UrlResolver;
import dev.coatcheck.migrate.file.FileImports;
import dev.coatcheck.migrate.run.TableMigrations;
import java.time.InstantSource;
import java.util.function.BooleanSupplier;

/**
 * Everything that the HTTP surface gives access to.
 *
 * @param ready whether requests would be served now
 */
public record Capabilities(
    Registry registry,
    RedirectHosts redirectHosts,
    Mappings mappings,
    Endings endings,
    Minter minter,
    Redirector redirector,
    Legacy legacy,
    UrlResolver urls,
    UrlPublisher publisher,
    Transfers transfers,
    TableMigrations tableMigrations,
    FileImports fileImports,
    Proxies trustedProxies,
    KeyGenerators keys,
    Workers workers,
    Access access,
    Observer observer,
    RandomSource random,
    InstantSource clock,
    BooleanSupplier ready) {}

package dev.coatcheck.http;

import dev.coatcheck.access.Access;
import dev.coatcheck.fileimport.FileImports;
import dev.coatcheck.id.RandomSource;
import dev.coatcheck.lease.Keys;
import dev.coatcheck.lease.Workers;
import dev.coatcheck.legacy.Legacy;
import dev.coatcheck.legacy.Proxies;
import dev.coatcheck.legacy.Redirector;
import dev.coatcheck.mapping.Mappings;
import dev.coatcheck.mint.Minter;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.RedirectHosts;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.tablemigration.TableMigrations;
import dev.coatcheck.transfer.Transfers;
import dev.coatcheck.url.UrlPublisher;
import dev.coatcheck.url.UrlResolver;
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
    Minter minter,
    Redirector redirector,
    Legacy legacy,
    UrlResolver urls,
    UrlPublisher publisher,
    Transfers transfers,
    TableMigrations tableMigrations,
    FileImports fileImports,
    Proxies trustedProxies,
    Keys keys,
    Workers workers,
    Access access,
    Observer observer,
    RandomSource random,
    InstantSource clock,
    BooleanSupplier ready) {}

package dev.coatcheck.tablemigration;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.TokenSource;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.source.Sources;

/**
 * What table migrations are made of.
 *
 * @param gateway where runs and mappings lie
 * @param holder names this instance
 */
public record Makings(
    Database gateway,
    Sources sources,
    Registry registry,
    TokenSource tokens,
    Observer observer,
    String holder) {}

package dev.coatcheck.mapping;

import dev.coatcheck.key.Key;
import dev.coatcheck.registry.Type;
import java.util.Optional;

/**
 * One public ID wanted.
 *
 * @param key the caller's key; empty to have one generated
 */
public record MintRequest(Type type, Optional<Key> key) {}

package dev.coatcheck.client;

/**
 * What the cache of a client did since the client was made.
 *
 * @param hits questions that were answered without a call
 * @param misses questions that were asked at the gateway
 * @param isTrusted whether the client knows all changes that are at least 1.9 s old, so that it may
 *     answer from its cache
 */
public record CacheStatistics(long hits, long misses, boolean isTrusted) {}

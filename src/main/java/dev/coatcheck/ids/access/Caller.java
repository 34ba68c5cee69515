package dev.coatcheck.ids.access;

/**
 * Who makes a request.
 *
 * @param keyId public part of the API key
 * @param chain ID of the first key of its chain of rotations: what all of them together may use is
 *     counted by it
 * @param principal the user or service; stays the same when keys are rotated
 */
public record Caller(String keyId, String chain, String principal, Rights rights) {}

package dev.coatcheck.ids.access;

/**
 * Who makes a request.
 *
 * @param keyId public part of the API key
 * @param principal the user or service; stays the same when keys are rotated
 */
public record Caller(String keyId, String principal, Rights rights) {}

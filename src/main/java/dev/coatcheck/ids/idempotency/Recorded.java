package dev.coatcheck.ids.idempotency;

/** An answer that is kept, so that the same request gets it again byte for byte. */
public record Recorded(int status, String body) {}

package dev.coatcheck.core.key;

/** The smallest and the largest key that a span of time can contain, both inclusive. */
public record KeyBounds(Key smallest, Key largest) {}

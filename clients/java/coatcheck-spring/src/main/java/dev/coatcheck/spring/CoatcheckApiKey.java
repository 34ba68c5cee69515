package dev.coatcheck.spring;

import java.util.function.Supplier;

/**
 * Where the API key comes from, so that it can be rotated while the application runs. A bean of
 * this type takes the place of {@code coatcheck.api-key}: it is asked before each call, and must
 * not wait. Where keys are leased through the gateway, {@code Snowflakes.leasedFrom} takes it too.
 */
@FunctionalInterface
public interface CoatcheckApiKey extends Supplier<String> {}

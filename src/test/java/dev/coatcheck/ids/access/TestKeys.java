package dev.coatcheck.ids.access;

import dev.coatcheck.cluster.audit.Actor;
import java.util.Optional;

/** API keys for tests, made as the command line makes them. */
public final class TestKeys {
  private TestKeys() {}

  /** A key with a principal of its own. */
  public static ApiKey create(ApiKeys keys, String name, Rights rights) {
    KeyOutcome outcome = keys.create(new NewKey(name, Optional.empty(), rights), Actor.operator());
    if (outcome instanceof KeyOutcome.Made(ApiKey key, _)) {
      return key;
    }
    throw new AssertionError(outcome);
  }
}

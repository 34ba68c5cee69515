package dev.coatcheck.ids.access;

import java.util.Set;

/**
 * Who makes a request.
 *
 * @param keyId public part of the API key
 * @param principal the user or service; stays the same when keys are rotated
 */
public record Caller(String keyId, String principal, Set<Scope> scopes) {
  public Caller {
    scopes = Set.copyOf(scopes);
  }

  boolean may(Scope scope) {
    return scopes.contains(Scope.ALL) || scopes.contains(scope);
  }
}

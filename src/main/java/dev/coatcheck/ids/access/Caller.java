package dev.coatcheck.ids.access;

import java.util.Set;

/**
 * Who makes a request.
 *
 * @param keyId public part of the API key
 * @param principal who acts; survives the rotation of keys
 */
public record Caller(String keyId, String principal, Set<Scope> scopes) {
  public Caller {
    scopes = Set.copyOf(scopes);
  }

  boolean may(Scope scope) {
    return scopes.contains(Scope.ALL) || scopes.contains(scope);
  }
}

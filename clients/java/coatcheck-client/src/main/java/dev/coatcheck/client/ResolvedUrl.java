package dev.coatcheck.client;

import java.util.List;
import java.util.Optional;

/**
 * A URL whose IDs were replaced by keys.
 *
 * @param url as it was sent
 * @param resolved with keys; no other byte differs
 * @param publicUrl with public IDs instead of legacy IDs; empty if it has no legacy IDs
 * @param ids the IDs in the order of the URL, 50 at most
 */
public record ResolvedUrl(
    String url, String resolved, Optional<String> publicUrl, List<FoundId> ids) {
  /**
   * One ID of the URL. Check the types: the gateway does not know which type belongs where.
   *
   * @param id the public ID
   * @param type the name of its type
   * @param key its key, or that of its survivor
   * @param legacyId the legacy ID that stood in the URL instead
   */
  public record FoundId(String id, String type, String key, Optional<String> legacyId) {}

  static ResolvedUrl of(Fields answer) {
    return new ResolvedUrl(
        answer.required("url"),
        answer.required("resolved"),
        answer.text("public_url"),
        answer.list("ids").stream()
            .map(
                id ->
                    new FoundId(
                        id.required("id"),
                        id.required("type"),
                        id.required("key"),
                        id.text("legacy_id")))
            .toList());
  }
}

package dev.coatcheck.api.console.types;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.RecordedEntry;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShownTypesTest {
  private static String change(String action, Map<String, ?> detail) {
    AuditEntry entry = AuditEntry.of(Actor.operator(), action, List.of("message"), detail);
    return ShownTypes.TypeView.change(new RecordedEntry(1, Instant.EPOCH, entry));
  }

  @Test
  void theHistoryOfATypeTellsOfItsErasToo() {
    assertThat(change("type.put", Map.of("created", true))).isEqualTo("created");
    assertThat(change("type.put", Map.of("fields", List.of("legacy"), "links_confirmed", true)))
        .isEqualTo("changed legacy, links may end");
    assertThat(change("type.era", Map.of("starts_at", "2027-01-01T00:00:00Z")))
        .isEqualTo("began an era from 2027-01-01T00:00:00Z");
    assertThat(change("era.pin", Map.of("seal_key", "8d0c", "keys", 12)))
        .isEqualTo("pinned 12 keys");
    assertThat(change("era.pin", Map.of("seal_key", "8d0c", "closed", true)))
        .isEqualTo("closed the era of 8d0c");
  }
}

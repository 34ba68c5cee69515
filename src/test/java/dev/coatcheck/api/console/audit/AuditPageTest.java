package dev.coatcheck.api.console.audit;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuditPageTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final TestClient CLIENT = GATEWAY.client();

  private final ConsoleClient browser =
      ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.AUDIT_READ));

  @BeforeAll
  static void type() {
    CLIENT.put(TestType.of("order", "ord"));
  }

  private static String revoked(String reason) {
    String id = CLIENT.mint("order").text("/id");
    CLIENT.post("/v1/ids/" + id + "/revoke", json("reason", reason));
    return id;
  }

  @Test
  void anEntrySaysWhoChangedWhatFromWhere() {
    String id = revoked("by mistake");

    String html = browser.get("/console/audit?subject=" + id).html();

    assertThat(html)
        .contains("<code>id.revoke</code>", "<code>" + id + "</code>", "127.0.0.1", "key_")
        .doesNotContain("<code>type.put</code>");
  }

  @Test
  void emptyFieldsOfTheFormAreNoFilters() {
    String id = revoked("by mistake");

    assertThat(browser.get("/console/audit?subject=&actor=&action=id.revoke&from=&to=").html())
        .contains(id)
        .doesNotContain("<code>type.put</code>");
  }

  @Test
  void olderEntriesFollowWithTheSameFilters() {
    List<String> ids = IntStream.range(0, 60).mapToObj(_ -> revoked("many")).toList();

    Page first = browser.get("/console/audit?action=id.revoke");
    String older =
        first.links().stream().filter(link -> link.contains("after=")).findFirst().orElseThrow();
    Page second = browser.get(older.replace("&amp;", "&"));

    assertThat(older).contains("action=id.revoke");
    assertThat(first.html()).contains(ids.getLast()).doesNotContain(ids.getFirst());
    assertThat(second.html()).contains(ids.getFirst()).doesNotContain(ids.getLast());
  }

  @ParameterizedTest
  @CsvSource({
    "from=yesterday, From",
    "action=put, Action",
    "after=x, After",
    "subject=%0A1, Subject"
  })
  void whatIsOddIsSaidInTheForm(String query, String label) {
    Page page = browser.get("/console/audit?" + query);

    assertThat(page.status()).isEqualTo(400);
    assertThat(page.html()).contains("role=\"alert\">" + label + ": ");
  }

  @Test
  void onlyThoseWhoMayReadTheAuditOfAllTypesSeeIt() {
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    assertThat(other.get("/console/audit").status()).isEqualTo(403);
    assertThat(other.get("/console").html()).doesNotContain("/console/audit");

    String limited = GATEWAY.keyWith(Scope.AUDIT_READ, "order");
    assertThat(ConsoleClient.signedIn(GATEWAY, limited).get("/console/audit").status())
        .isEqualTo(403);
  }

  @Test
  void everyTextOfACallerComesBackAsText() {
    String canary = "<script>alert(1)</script>\"'><img src=x>";
    GATEWAY.execute(
        """
        with head as (
          update coatcheck.change_head set audited = audited + 1 returning audited)
        insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)
        select audited, now(), $x$%1$s$x$, 'id.revoke', array[$x$%1$s$x$],
               jsonb_build_object('reason', $x$%1$s$x$)
          from head\
        """
            .formatted(canary));

    for (String query : List.of("", "?actor=" + ConsoleClient.encoded(canary))) {
      assertThat(browser.get("/console/audit" + query).html())
          .contains("&lt;script&gt;alert(1)")
          .doesNotContainIgnoringCase("<script>", "<img src=x");
    }
  }
}

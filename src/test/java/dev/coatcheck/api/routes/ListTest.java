package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.registry.TestType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of a type's public IDs is read in both directions, by status and by time. */
class ListTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();
  private static final List<String> IDS = new ArrayList<>();

  @BeforeAll
  static void start() {
    CLIENT.put(TestType.of("page", "pg"));
    CLIENT.put(TestType.of("other", "ot"));
    CLIENT.put(TestType.of("timed", "tm"));
    CLIENT.put(TestType.of("exact", "ex"));
    for (int key = 1; key <= 9; key++) {
      IDS.add(CLIENT.mint("page", "key", String.valueOf(key)).text("/id"));
    }
    CLIENT.post("/v1/ids/" + id(3) + "/revoke", "{}");
    CLIENT.post("/v1/ids/" + id(6) + "/revoke", "{}");
    CLIENT.post("/v1/ids/" + id(7) + "/merge", json("into", id(8)));
  }

  @Test
  void aListIsReadBackFromItsEndWithoutGaps() {
    Reply first = list("&limit=4&ending_before=" + id(1));
    Reply second = list("&limit=4&ending_before=" + first.text("/data/0/id"));
    Reply none = list("&limit=4&ending_before=" + id(9));

    assertThat(keys(first)).containsExactly("5", "4", "3", "2");
    assertThat(first.body().at("/has_more").booleanValue()).isTrue();
    assertThat(keys(second)).containsExactly("9", "8", "7", "6");
    assertThat(second.body().at("/has_more").booleanValue()).isFalse();
    assertThat(keys(none)).isEmpty();
    assertThat(none.body().at("/has_more").booleanValue()).isFalse();
    assertThat(keys(list("&limit=2&ending_before=" + id(3)))).containsExactly("5", "4");
  }

  @Test
  void aListHasOneStatusAndItsCursorsMayHaveAnother() {
    assertThat(ids(list("&status=revoked"))).containsExactly(id(6), id(3));
    assertThat(ids(list("&status=merged"))).containsExactly(id(7));
    assertThat(ids(list("&status=active")))
        .containsExactly(id(9), id(8), id(5), id(4), id(2), id(1));
    assertThat(ids(list("&status=revoked&starting_after=" + id(6)))).containsExactly(id(3));
    assertThat(ids(list("&status=active&limit=2&ending_before=" + id(3))))
        .containsExactly(id(5), id(4));
    assertThat(list("&status=active&limit=5").body().at("/has_more").booleanValue()).isTrue();
    assertThat(list("&status=active&limit=6").body().at("/has_more").booleanValue()).isFalse();
  }

  /** Otherwise a list of few revoked public IDs would read all of a type's rows. */
  @Test
  void endedPublicIdsAreFoundByAnIndexOfTheirOwn() {
    GATEWAY.execute(
        """
        insert into coatcheck.public_id (key, token, type_id, bucket)
        select 1000 + n, gen_random_uuid(), type_id, 0
          from coatcheck.type, generate_series(1, 20000) as n where name = 'other';
        analyze coatcheck.public_id
        """);

    assertThat(
            GATEWAY
                .sql()
                .texts(
                    """
                    explain select key from coatcheck.public_id
                     where type_id = (select type_id from coatcheck.type where name = 'other')
                       and status = 1
                     order by type_id desc, key desc limit 21
                    """))
        .anyMatch(line -> line.contains("Index Scan Backward using public_id_ended"));
  }

  @Test
  void aTimeIsInUnixSecondsOrHasAnOffset() {
    Instant noon = Instant.parse("2025-06-01T12:00:00Z");
    for (Instant time : List.of(noon, noon.plusSeconds(60))) {
      long key =
          SnowflakeLayout.DEFAULT.key(SnowflakeLayout.DEFAULT.position(time.toEpochMilli()), 1);
      CLIENT.mint("timed", "key", String.valueOf(key));
    }
    long seconds = noon.getEpochSecond();

    for (String after :
        List.of(
            String.valueOf(seconds - 1),
            "2025-06-01T11:59:59Z",
            "2025-06-01T13:59:59%2B02:00",
            "2025-06-01T11:59:59.999Z",
            "0")) {
      assertThat(timed("created_after=" + after)).as(after).isEqualTo(2);
    }
    assertThat(timed("created_after=" + seconds)).isEqualTo(1);
    assertThat(timed("created_before=" + (seconds + 60))).isEqualTo(1);
    assertThat(timed("created_after=" + seconds + "&created_before=" + (seconds + 60))).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "created_before, 00.123Z, 0",
    "created_before, 00.123000001Z, 1",
    "created_before, 00.1235Z, 1",
    "created_before, 00.124Z, 1",
    "created_after, 00.122Z, 1",
    "created_after, 00.1229Z, 1",
    "created_after, 00.123Z, 0",
    "created_after, 00.1235Z, 0",
  })
  void aKeyOfAMillisecondIsBeforeAndAfterNoOtherTimeThanItsOwn(
      String param, String seconds, int count) {
    long millis = Instant.parse("2025-07-01T12:00:00.123Z").toEpochMilli();
    long key = SnowflakeLayout.DEFAULT.key(SnowflakeLayout.DEFAULT.position(millis), 1);
    CLIENT.mint("exact", "key", String.valueOf(key));

    String time = "2025-07-01T12:00:" + seconds;
    assertThat(ids(CLIENT.get("/v1/ids?type=exact&" + param + "=" + time))).hasSize(count);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"-1", "1.5", "01", "1764000000000", "253402214400", "99999999999999999999"})
  void anotherNumberIsNoTime(String time) {
    assertProblem(
        CLIENT.hostile().get("/v1/ids?type=timed&created_after=" + time),
        "400 parameter_invalid created_after");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          status=gone                        | 400 parameter_invalid status
          status=ACTIVE                      | 400 parameter_invalid status
          ending_before=pg_x                 | 400 public_id_malformed ending_before
          starting_after=ID&ending_before=ID | 400 parameter_invalid ending_before
          ending_before=OTHER                | 400 parameter_invalid ending_before
          before=ID                          | 400 parameter_unknown before
          x-y=1                              | 400 parameter_unknown ?
          """)
  void anUnsuitableParameterIsNamed(String query, String problem) {
    String other = CLIENT.mint("other", "key", "1").text("/id");

    assertProblem(
        CLIENT
            .hostile()
            .get("/v1/ids?type=page&" + query.replace("ID", id(1)).replace("OTHER", other)),
        problem);
  }

  private static String id(int key) {
    return IDS.get(key - 1);
  }

  private static Reply list(String query) {
    return CLIENT.get("/v1/ids?type=page" + query);
  }

  private static int timed(String query) {
    return CLIENT.get("/v1/ids?type=timed&" + query).body().at("/data").size();
  }

  private static List<String> keys(Reply page) {
    return page.body().at("/data").findValuesAsString("key");
  }

  private static List<String> ids(Reply page) {
    return page.body().at("/data").findValuesAsString("id");
  }
}

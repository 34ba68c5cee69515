package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.embedded.InstalledPostgres;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code ops/sql/coatcheck-id.sql}: Postgres agrees with the gateway on every text. */
class SqlPackTest {
  private static final Path PACK = Path.of("ops", "sql", "coatcheck-id.sql");
  private static final Path PAGE = Path.of("docs", "clients.md");
  private static final String ID = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
  private static final String TOKEN = "8e2f4b1d-9c7a-6053-f1e2-d3c4b5a69788";
  private static final String INSUFFICIENT_PRIVILEGE = "42501";
  private static final String CHECK_VIOLATION = "23514";

  /** A statement, and what the comment behind it says that it returns. */
  private static final Pattern STATEMENT = Pattern.compile("([^;]+);(?: -- (.*))?\\n");

  /** What a neighbour plants fails, so that a result tells that it never ran. */
  private static final String PLANTS =
      """
      do $$
      declare
        one record;
      begin
        for one in
          select p.proname, format_type(o.oprleft, null) as l, format_type(o.oprright, null) as r,
            format_type(o.oprresult, null) as result, o.oprname
          from pg_operator o join pg_proc p on p.oid = o.oprcode
          where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprleft <> 0
            and array[o.oprleft, o.oprright] <@ array[
              'text'::regtype, 'name'::regtype, 'integer'::regtype, 'bigint'::regtype,
              'numeric'::regtype, 'oid'::regtype, 'boolean'::regtype, 'bytea'::regtype]::oid[]
        loop
          execute format(
            'create function public.planted(%1$s, %2$s) returns %3$s language plpgsql'
              || ' as ''begin raise exception using message = ''''planted''''; end''',
            one.l, one.r, one.result);
          execute format(
            'create operator public.%s (leftarg = %s, rightarg = %s, function = public.planted)',
            one.oprname, one.l, one.r);
          execute format('alter function public.planted(%s, %s) rename to %I',
            one.l, one.r, 'planted ' || one.oprname);
        end loop;
        for one in
          select p.oid, p.proname, pg_get_function_identity_arguments(p.oid) as arguments,
            format_type(p.prorettype, null) as result
          from pg_proc p
          where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and not p.proretset
            and p.proname in ('decode', 'div', 'format', 'get_byte', 'left', 'length', 'lpad',
              'mod', 'octet_length', 'right', 'set_config', 'current_setting', 'substr', 'to_hex',
              'to_regnamespace', 'to_regtype', 'uuid_send', 'textcat')
            and position('"' in pg_get_function_identity_arguments(p.oid)) = 0
        loop
          execute format(
            'create function public.%I(%s) returns %s language plpgsql'
              || ' as ''begin raise exception using message = ''''planted''''; end''',
            one.proname, one.arguments, one.result);
        end loop;
      end $$\
      """;

  private static TestSql sql;

  @BeforeAll
  static void install() throws IOException {
    sql = TestDatabase.empty().sql();
    sql.execute(pack());
  }

  private static String pack() throws IOException {
    return Files.readString(PACK);
  }

  @Test
  void theVectorsHoldInBothDirections() {
    theVectorsHold(sql);
  }

  private static void theVectorsHold(TestSql on) {
    List<JsonNode> valid = read("valid.json");
    List<JsonNode> invalid = read("invalid.json").stream().filter(row -> isStorable(row)).toList();
    try (TestSession session = on.session().execute("set search_path = coatcheck_id")) {
      assertThat(said(session, valid.stream().map(row -> text(row, "text")).toList()))
          .isEqualTo(
              valid.stream()
                  .map(row -> "t " + text(row, "prefix") + " " + text(row, "token_hex"))
                  .toList());
      assertThat(
              session.texts(
                  "select coatcheck_format(prefix, hex::uuid) from (values "
                      + valid.stream()
                          .map(row -> "('%s', '%s')".formatted(text(row, "prefix"), hex(row)))
                          .collect(Collectors.joining(", "))
                      + ") as row (prefix, hex)"))
          .isEqualTo(valid.stream().map(row -> text(row, "text")).toList());
      assertThat(said(session, invalid.stream().map(row -> text(row, "text")).toList()))
          .containsOnly("f");
    }
    assertThat(invalid.stream().map(row -> text(row, "reason")))
        .contains("length", "alphabet", "overflow", "check", "prefix");
    assertThat(invalid.size()).isEqualTo(read("invalid.json").size() - 1);
  }

  private static String hex(JsonNode row) {
    return text(row, "token_hex");
  }

  /** Postgres has no texts with NUL. */
  private static boolean isStorable(JsonNode row) {
    return text(row, "text").indexOf('\0') < 0;
  }

  @Test
  void tenThousandRandomIdsAreReadAndWrittenAsTheGatewayDoes() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<PublicId> ids =
        Stream.generate(
                () ->
                    new PublicId(
                        randomPrefix(random), new Token(random.nextLong(), random.nextLong())))
            .limit(10_000)
            .toList();
    List<String> texts = ids.stream().map(PublicId::toString).toList();
    try (TestSession session = sql.session().execute("set search_path = coatcheck_id")) {
      assertThat(said(session, texts))
          .as("seed %d", seed)
          .isEqualTo(ids.stream().map(id -> "t " + id.prefix() + " " + id.token()).toList());
      assertThat(
              session.texts(
                  "select coatcheck_format(prefix, token::uuid) from unnest(%s, %s) as row (prefix, token)"
                      .formatted(
                          array(ids.stream().map(id -> id.prefix().value()).toList()),
                          array(ids.stream().map(id -> id.token().toString()).toList()))))
          .as("seed %d", seed)
          .isEqualTo(texts);
      List<String> mistyped = texts.stream().map(text -> mistype(text, random)).toList();
      assertThat(said(session, mistyped))
          .as("seed %d", seed)
          .isEqualTo(mistyped.stream().map(SqlPackTest::gatewaySays).toList());
    }
  }

  private static Prefix randomPrefix(Random random) {
    String letters = "abcdefghijklmnopqrstuvwxyz0123456789__";
    while (true) {
      String text =
          random
              .ints(1 + random.nextInt(32), 0, letters.length())
              .mapToObj(i -> letters.substring(i, i + 1))
              .collect(Collectors.joining());
      if (Prefix.isValid(text)) {
        return new Prefix(text);
      }
    }
  }

  /** One character replaced, removed or added, by any of ASCII and a few others. */
  private static String mistype(String text, Random random) {
    int at = random.nextInt(text.length());
    String other = Character.toString(1 + random.nextInt(400));
    return switch (random.nextInt(3)) {
      case 0 -> text.substring(0, at) + text.substring(at + 1);
      case 1 -> text.substring(0, at) + other + text.substring(at);
      default -> text.substring(0, at) + other + text.substring(at + 1);
    };
  }

  private static String gatewaySays(String text) {
    return switch (PublicId.parse(text)) {
      case ParsedId.Valid valid -> "t " + valid.id().prefix() + " " + valid.id().token();
      case ParsedId.Malformed _ -> "f";
    };
  }

  @Test
  void noTextIsAnError() {
    List<String> texts = new ArrayList<>();
    IntStream.range(1, 0x180).mapToObj(c -> "ch_" + Character.toString(c)).forEach(texts::add);
    for (int c = 1; c < 0x180; c++) {
      texts.add(Character.toString(c).repeat(27));
      texts.add(ID.substring(0, 26) + Character.toString(c));
      texts.add(Character.toString(c) + ID.substring(1));
    }
    texts.addAll(
        List.of(
            "",
            " ",
            "\\",
            "\\000",
            "\\x00",
            "'; drop table ids; --",
            "a".repeat(8192),
            "a_".repeat(4096),
            "ch_" + "0".repeat(1_000_000),
            ID.replace('h', '\u04bb'),
            ID.replace('_', '\uff3f'),
            ID.replace("4", "\ud835\udfdc"),
            ID + "\u0301",
            "\ufeff" + ID,
            ID + "\n",
            ID.repeat(2)));
    try (TestSession session = sql.session().execute("set search_path = coatcheck_id")) {
      assertThat(said(session, texts))
          .isEqualTo(texts.stream().map(SqlPackTest::gatewaySays).toList());
      assertThat(
              session.text(
                  "select coatcheck_valid(null) is null and coatcheck_parse(null) is null"))
          .isEqualTo("t");
    }
  }

  @Test
  void theDomainsRefuseAndTheTypeIsTold() {
    try (TestSession session = sql.session().execute("set search_path = coatcheck_id")) {
      assertThat(session.text("select '" + ID + "'::coatcheck_id")).isEqualTo(ID);
      assertThat(session.text("select null::coatcheck_id is null")).isEqualTo("t");
      assertRefused(session, "select 'ch_4KIWSf8WvPNoQDBwStVIDYHV'::coatcheck_id");
      for (String prefix :
          List.of("", "Ch", "_ch", "ch_", "c__h", "1c", "\u0441h", "a".repeat(33))) {
        assertRefused(session, "select coatcheck_format('%s', '%s')".formatted(prefix, TOKEN));
      }
      for (String other : List.of("c", "ch_", "Ch", "usr", "")) {
        assertThat(session.text("select coatcheck_valid('%s', '%s')".formatted(ID, other)))
            .isEqualTo("f");
      }
      assertThat(session.text("select coatcheck_valid('%s', 'ch')".formatted(ID))).isEqualTo("t");
      assertThat(session.text("select coatcheck_valid('ch_', 'ch')")).isEqualTo("f");
    }
  }

  private static void assertRefused(TestSession session, String query) {
    assertThatThrownBy(() -> session.text(query))
        .isInstanceOfSatisfying(
            AssertionError.class,
            failed -> assertThat(TestSession.sqlState(failed)).isEqualTo(CHECK_VIOLATION));
  }

  /** Under such a collation Postgres has no regular expressions, and 'A' equals 'a'. */
  @Test
  void aColumnThatIgnoresCaseIsReadByteByByte() {
    assumeTrue(
        sql.number("select count(*) from pg_collation where collprovider = 'i'") > 0,
        "a Postgres with ICU is not installed");
    sql.execute(
        "create collation public.folded (provider = icu, locale = 'und-u-ks-level2', deterministic"
            + " = false)",
        "create table public.folded (id text collate public.folded, prefix text collate"
            + " public.folded)",
        "insert into public.folded values ('%s', 'ch'), ('%s', 'CH'), ('%s', 'ch')"
            .formatted(ID, ID, ID.replace('K', 'k')));

    assertThat(
            sql.texts(
                "select coatcheck_id.coatcheck_valid(id) || ' ' || coatcheck_id.coatcheck_valid(id,"
                    + " prefix) from public.folded"))
        .containsExactly("true true", "true false", "false false");
    assertThat(
            sql.texts(
                "select (coatcheck_id.coatcheck_parse(id)).token from public.folded where prefix ="
                    + " 'CH'"))
        .contains(TOKEN);
  }

  @Test
  void whatANeighbourPlantsNeverRuns() throws IOException {
    TestSql shared = TestDatabase.empty().sql();
    shared.execute(PLANTS);
    try (TestSession session = shared.session().execute("set search_path = public, pg_catalog")) {
      for (String planted :
          List.of("select 1 + 1", "select 'a'::text ~ 'a'", "select length('a'::text)")) {
        assertThatThrownBy(() -> session.text(planted))
            .rootCause()
            .hasMessageStartingWith("ERROR: planted");
      }
      session.execute(pack(), pack());
      assertThat(session.text("show search_path")).isEqualTo("public, pg_catalog");
      assertThat(
              session.text(
                  "select prefix operator(pg_catalog.||) coatcheck_id.coatcheck_format(prefix,"
                      + " token) from coatcheck_id.coatcheck_parse('"
                      + ID
                      + "')"))
          .isEqualTo("ch" + ID);
      assertThat(session.text("select coatcheck_id.coatcheck_valid('" + ID + "', 'ch')"))
          .isEqualTo("t");
      assertThat(session.text("select '" + ID + "'::coatcheck_id.coatcheck_id")).isEqualTo(ID);
    }
  }

  @Test
  void itIsInstalledAgainOverColumnsInUseAndGoesAsItSays() throws IOException {
    TestSql shop = TestDatabase.empty().sql();
    shop.execute(pack());
    shop.execute(
        """
        create table public.charges (
          id coatcheck_id.coatcheck_id primary key,
          prefix text generated always as ((coatcheck_id.coatcheck_parse(id)).prefix) stored,
          parent text check (coatcheck_id.coatcheck_valid(parent, 'ch')))\
        """,
        "create index on public.charges (((coatcheck_id.coatcheck_parse(parent)).token))",
        "insert into public.charges values ('" + ID + "')");
    try (TestSession migration = shop.begin("set local search_path = public")) {
      migration.execute(pack());
      assertThat(migration.text("show search_path")).isEqualTo("public");
      migration.commit();
      assertThat(migration.text("show search_path")).isNotEqualTo("public");
    }
    assertThat(shop.texts("select prefix from public.charges")).containsExactly("ch");

    shop.execute(
        Pattern.compile("(?m)^-- +(drop schema .*;)$")
            .matcher(pack())
            .results()
            .map(line -> line.group(1))
            .collect(Collectors.joining()));
    assertThat(shop.number("select count(*) from pg_namespace where nspname = 'coatcheck_id'"))
        .isZero();
    assertThat(shop.number("select count(*) from public.charges")).isEqualTo(1);
  }

  @Test
  void aSchemaOfANeighbourIsRefused() throws IOException {
    TestDatabase database = TestDatabase.fresh();
    TestSql shared = database.sql();
    TestSql neighbour = database.asLesserRole().sql();
    shared.execute("create schema coatcheck_id authorization " + neighbour.user());

    String pack = pack();
    assertThatThrownBy(() -> shared.execute(pack))
        .isInstanceOfSatisfying(
            AssertionError.class,
            failed -> assertThat(TestSession.sqlState(failed)).isEqualTo(INSUFFICIENT_PRIVILEGE))
        .rootCause()
        .hasMessageContaining("belongs to " + neighbour.user());
    neighbour.execute(pack);
    assertThat(shared.text("select coatcheck_id.coatcheck_valid('" + ID + "')")).isEqualTo("t");
  }

  @Test
  void aRoleWithoutRightsMayUseIt() throws IOException {
    TestDatabase database = TestDatabase.fresh();
    database.sql().execute(pack());

    assertThat(
            database.asLesserRole().sql().text("select coatcheck_id.coatcheck_valid('" + ID + "')"))
        .isEqualTo("t");
  }

  /** A restore has an empty search path; and the machine's Postgres is an older one. */
  @Test
  void aDumpIsRestoredWithItsColumns() throws IOException {
    try (InstalledPostgres server = InstalledPostgres.start()) {
      TestSql shop = server.database("shop").sql();
      shop.execute(pack());
      theVectorsHold(shop);
      shop.execute(
          "create table public.charges (id coatcheck_id.coatcheck_id primary key, parent text check"
              + " (coatcheck_id.coatcheck_valid(parent, 'ch')))",
          "create index on public.charges (((coatcheck_id.coatcheck_parse(parent)).token))",
          "insert into public.charges values ('" + ID + "', '" + ID + "')");
      TestSql copy = server.database("copy").sql();
      server.restore(server.dump("shop"), "copy");

      assertThat(copy.text("select parent from public.charges")).isEqualTo(ID);
      theVectorsHold(copy);
    }
  }

  @Test
  void theStatementsOfThePageDoWhatItSays() throws IOException {
    String page = Files.readString(PAGE);
    String section = page.substring(page.indexOf("\n## In SQL\n"));
    section = section.substring(0, section.indexOf("\n## ", 1));
    List<MatchResult> blocks =
        Pattern.compile("```(sh|sql)\n(.*?)```", Pattern.DOTALL)
            .matcher(section)
            .results()
            .toList();
    int compared = 0;
    try (TestSession session = TestDatabase.empty().sql().session()) {
      for (MatchResult block : blocks) {
        if (block.group(1).equals("sh")) {
          assertThat(block.group(2)).isEqualTo("psql \"$DATABASE_URL\" -f " + PACK + "\n");
          session.execute(pack());
          continue;
        }
        for (MatchResult statement : STATEMENT.matcher(block.group(2)).results().toList()) {
          if (statement.group(2) == null) {
            session.execute(statement.group(1));
          } else {
            assertThat(session.text(statement.group(1))).isEqualTo(statement.group(2));
            compared++;
          }
        }
      }
    }
    assertThat(compared).isEqualTo(3);
  }

  /** What Postgres says of each text: {@code t}, prefix and token in hex, or {@code f}. */
  private static List<String> said(TestSession session, List<String> texts) {
    return session.texts(
        """
        select case
          when valid and id is not null then 't ' || prefix || ' ' || replace(token::text, '-', '')
          when not valid and prefix is null and token is null then 'f'
          else 'valid: ' || valid || ', parsed: ' || coalesce(prefix, 'null')
        end
        from unnest(%s) with ordinality as row (id, n), coatcheck_valid(id) as valid, coatcheck_parse(id)
        order by n\
        """
            .formatted(array(texts)));
  }

  private static String array(List<String> texts) {
    return texts.stream()
        .map(text -> "'" + text.replace("'", "''") + "'")
        .collect(Collectors.joining(", ", "array[", "]::text[]"));
  }

  private static String text(JsonNode row, String field) {
    return row.get(field).stringValue();
  }

  private static List<JsonNode> read(String file) {
    String path = "/vectors/public-id/" + file;
    try (InputStream in =
        Objects.requireNonNull(SqlPackTest.class.getResourceAsStream(path), path)) {
      JsonNode rows = JsonMapper.shared().readTree(in);
      return StreamSupport.stream(rows.spliterator(), false).toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}

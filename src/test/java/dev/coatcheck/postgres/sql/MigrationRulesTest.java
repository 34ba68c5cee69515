package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Migrations after the first version only expand the schema: an instance of the previous release
 * goes on working on it while instances are replaced one after the other. What contracts it comes
 * in a later release, and names the release that needs the old form no more.
 */
class MigrationRulesTest {
  /** The schema of the first version. No release before it runs beside these. */
  private static final int BASE = 7;

  private static final Pattern NUMBER = Pattern.compile("V(\\d+)__\\w+\\.sql");
  private static final Pattern COMMENT_OR_LITERAL =
      Pattern.compile("--[^\\n]*|(?s:/\\*.*?\\*/)|'(?:[^']|'')*'");

  private static final String CONTRACT = "-- Contract: not used since ";
  private static final Pattern SINCE = Pattern.compile(CONTRACT + "(\\d+\\.\\d+\\.\\d+)\\.");

  private static final Pattern CREATED =
      Pattern.compile("\\bcreate table (?:if not exists )?([\\w.\"]+)");

  /** What an instance of the previous release can't stand. */
  private static final List<Pattern> CONTRACTING =
      Stream.of(
              "\\bdrop\\b",
              "\\brename\\b",
              "\\btruncate\\b",
              "\\bdelete from\\b",
              "\\brevoke\\b",
              "\\bset schema\\b",
              "\\bset not null\\b",
              "\\balter column \\S+ (set data )?type\\b",
              "\\balter type\\b",
              "\\badd constraint\\b",
              "\\badd (unique|check|primary key|foreign key|exclude)\\b",
              "\\bcreate unique index\\b",
              // It holds up what the old instance writes.
              "\\bcreate index (?!concurrently\\b)",
              // A column that an old instance doesn't fill.
              "\\badd (column )?(if not exists )?(?!constraint)\\w+ (?:(?!, add"
                  + " |\\bdefault\\b).)*\\bnot null\\b(?!(?:(?!, add ).)*\\bdefault\\b)")
          .map(Pattern::compile)
          .toList();

  @Test
  void aMigrationAfterTheFirstVersionOnlyExpands() throws IOException {
    List<String> faults = new ArrayList<>();
    int seen = 0;
    try (Stream<Path> files = Files.list(Path.of("migrations"))) {
      for (Path file : files.sorted().toList()) {
        Matcher number = NUMBER.matcher(file.getFileName().toString());
        assertThat(number.matches()).as("%s", file).isTrue();
        seen++;
        if (Integer.parseInt(number.group(1)) > BASE) {
          faults(Files.readString(file), Files.readString(Path.of("CHANGELOG.md")))
              .forEach(fault -> faults.add(file + ": " + fault));
        }
      }
    }
    assertThat(faults).as("see \"Migrations\" in CONTRIBUTING.md").isEmpty();
    assertThat(seen).isGreaterThanOrEqualTo(BASE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "drop table coatcheck.alias",
        "alter table coatcheck.type drop column tag",
        "alter table coatcheck.type alter column tag drop default",
        "ALTER TABLE coatcheck.type\n  RENAME COLUMN tag TO label",
        "alter table coatcheck.type alter column version type bigint",
        "alter table coatcheck.type alter column version set data type bigint",
        "alter table coatcheck.type alter column tag set not null",
        "alter table coatcheck.type add column label text not null",
        "alter table coatcheck.type add column a integer not null default 0, add b text not null",
        "alter table coatcheck.type add b text not null, add column a integer not null default 0",
        "alter table coatcheck.type add constraint tag_is_short check (length(tag) < 9)",
        "alter table coatcheck.type add unique (tag)",
        "create unique index type_by_tag on coatcheck.type (tag)",
        "create index type_by_tag on coatcheck.type (tag)",
        "truncate coatcheck.change",
        "delete from coatcheck.change",
        "do $$ begin execute 'select 1'; drop table coatcheck.change; end $$",
        "create table coatcheck.label (name text); drop table coatcheck.change",
      })
  void whatAnInstanceOfTheReleaseBeforeCantStandIsRefused(String sql) {
    assertThat(faults(sql, "## [0.1.0] - 2027-01-01")).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "alter table coatcheck.type add column label text",
        "alter table coatcheck.type add column label text not null default ''",
        "alter table coatcheck.type add column label text default '' not null",
        "create table coatcheck.label (name text not null constraint label_pkey primary key)",
        "create table coatcheck.label (name text); create unique index l on coatcheck.label (name)",
        "create table coatcheck.label (name text);\n"
            + "alter table coatcheck.label add constraint a check (true)",
        "create index concurrently type_by_tag on coatcheck.type (tag)",
        "-- it's no drop\nupdate coatcheck.type set tag = null",
        "comment on column coatcheck.type.tag is 'Do not drop; it''s needed.'",
      })
  void whatItDoesNotNoticeIsTaken(String sql) {
    assertThat(faults(sql, "")).isEmpty();
  }

  @Test
  void aContractionComesAfterTheReleaseThatNeedsTheOldFormNoMore() {
    String released = "## [0.3.0] - unreleased\n\n## [0.2.0] - 2027-03-01\n";

    assertThat(faults(CONTRACT + "0.2.0.\ndrop table coatcheck.alias", released)).isEmpty();
    assertThat(faults(CONTRACT + "0.3.0.\ndrop table coatcheck.alias", released)).isNotEmpty();
    assertThat(faults(CONTRACT + "0.4.0.\ndrop table coatcheck.alias", released)).isNotEmpty();
    assertThat(faults("\n" + CONTRACT + "0.2.0.\ndrop table coatcheck.alias", released))
        .isNotEmpty();
  }

  private static List<String> faults(String migration, String changelog) {
    Matcher since = SINCE.matcher(migration);
    if (since.lookingAt()) {
      return Pattern.compile(Pattern.quote("## [" + since.group(1) + "] - ") + "\\d{4}-")
              .matcher(changelog)
              .find()
          ? List.of()
          : List.of("contracts what " + since.group(1) + " used, which is not released");
    }
    List<String> faults = new ArrayList<>();
    Set<String> created = new HashSet<>();
    for (String statement : statements(migration)) {
      CREATED.matcher(statement).results().forEach(table -> created.add(table.group(1)));
      if (created.stream().anyMatch(table -> isAbout(statement, table))) {
        continue;
      }
      for (Pattern contracting : CONTRACTING) {
        if (contracting.matcher(statement).find()) {
          faults.add(statement);
        }
      }
    }
    return faults;
  }

  /** Whether a statement defines something on a table. */
  private static boolean isAbout(String statement, String table) {
    return Pattern.compile(
            "(create table (if not exists )?|alter table (only )?|create (unique )?index \\w+ on )"
                + Pattern.quote(table)
                + "(?![\\w.])")
        .matcher(statement)
        .lookingAt();
  }

  private static List<String> statements(String migration) {
    String plain =
        COMMENT_OR_LITERAL
            .matcher(migration)
            .replaceAll(found -> found.group().startsWith("'") ? "''" : " ");
    return Stream.of(plain.split(";", -1))
        .map(statement -> statement.strip().replaceAll("\\s+", " ").toLowerCase(Locale.ROOT))
        .filter(statement -> !statement.isEmpty())
        .toList();
  }
}

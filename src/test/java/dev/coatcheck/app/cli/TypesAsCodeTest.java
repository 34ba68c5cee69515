package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code types plan}, {@code apply} and {@code export}. */
class TypesAsCodeTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString());

  private static final Path KEY = TestDatabase.fileWith(GATEWAY.key());

  private static final String SALT = "the salt that nobody reads";

  @TempDir Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("types.yaml"), text);
  }

  private Terminal plan(String text) throws IOException {
    return run("plan", "-f", file(text).toString());
  }

  private Terminal apply(String text, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("apply", "-f", file(text).toString()));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(String[]::new));
  }

  /** A verb of types at this gateway. */
  private static Terminal run(String... arguments) {
    List<String> all = new ArrayList<>(List.of("types"));
    all.addAll(List.of(arguments));
    all.add("--url=" + GATEWAY.uri());
    all.add("--key-file=" + KEY);
    return Terminal.run(all.toArray(String[]::new));
  }

  @Test
  void aTypeIsPlannedCreatedChangedAndThenThereIsNoDifference() throws IOException {
    String first =
        """
        types:
          crate:
            prefix: crt
            key: bigint
            redirect:
              template: https://shop.example/crates/{id}
        """;
    String second = first + "      max_age_seconds: 60\n";

    Terminal created = plan(first);
    assertThat(created.err()).isEmpty();
    assertThat(created.status()).isEqualTo(3);
    assertThat(created.lines())
        .contains("crate: new", "  + prefix crt")
        .anyMatch(line -> line.startsWith("1 to create, 0 to change, 0 unchanged, "));
    assertThat(run("get", "crate").err()).contains("(type_unknown)");

    Terminal done = apply(first);
    assertThat(done.err()).isEmpty();
    assertThat(done.status()).isZero();
    assertThat(done.lines()).contains("crate: created, version 1");
    assertThat(plan(first).status()).isZero();

    Terminal differs = plan(second);
    assertThat(differs.status()).isEqualTo(3);
    assertThat(differs.lines())
        .containsSequence(
            "crate: differs",
            "  - redirect.max_age_seconds 0",
            "  + redirect.max_age_seconds 60");
    assertThat(apply(second).lines()).contains("crate: changed, version 2");
    assertThat(apply(second).lines()).noneMatch(line -> line.startsWith("crate"));
    assertThat(plan(second).status()).isZero();

    Terminal none = plan("types: {}");
    assertThat(none.status()).isZero();
    assertThat(none.lines()).contains("crate: not in the file, left alone");
    assertThat(apply("types: {}").lines()).contains("crate: not in the file, left alone");
    assertThat(run("get", "crate").status()).isZero();
  }

  /** A type for each policy, so that what one of them is read and written as shows. */
  private static String everyPolicy() {
    return """
    # A comment.
    types:
      person: {prefix: per, key: uuid}
      link:
        prefix: lnk
        key: bigint
        redirect:
          template: https://shop.example/l/{id}/{key}
          status: 308
          max_age_seconds: 60
          public: false
          expose_key: true
        legacy:
          status: 301
          public: false
          max_id: "4711"
          deprecated_at: 2026-01-01T00:00:00Z
          sunset_at: 2099-01-01T00:00:00+01:00
          max_age_seconds: 3600
          sunset_link: https://shop.example/sunset
          brownouts:
            - {from: 2098-01-01T00:00:00Z, to: 2098-01-01T01:00:00Z}
            - from: 2098-02-01T00:00:00Z
              to: 2098-02-01T01:00:00Z
              answer: 410
          brownouts_exempt: [key_2bN8Qx0LmT4a]
        dead_link:
          default_language: en
          title: {en: "Sold: gone", no: Solgt}
          text: {en: Ask us., no: "Sp\u00f8r oss."}
        url_templates: ["/links/{legacy:link}", "/l/{legacy:link}/more"]
        client_names: shared
        on_outage: refuse
        stale_seconds_max: 7
      listed:
        prefix: lst
        key: bigint
        redirect: {template: "https://shop.example/{id}"}
        legacy: {}
        fallback_url: https://shop.example/all
        public_pattern: {text_prefix: lst-, alphabet: 0123456789abcdef, min_length: 16, max_length: 16}
        client_names: required
      hashed:
        prefix: hsh
        key: bigint
        public_rule: {scheme: hashids, text_prefix: h-, min_length: 8, salt: {file: salt.txt}}
      squid:
        prefix: sqd
        key: bigint
        public_rule: {scheme: sqids, text_prefix: s-, min_length: 6}
      typed:
        prefix: typ
        key: uuid
        public_rule: {scheme: typeid, prefix: account}
      unique:
        prefix: unq
        key: uuid
        generate: none
        public_rule: {scheme: uuid, text_prefix: u-}
      numbered: {prefix: num, key: bigint, generate: segment, tag: numbers}
      laid_out: {prefix: lay, key: bigint, layout: 41/10/12@1577836800000}
      covered:
        prefix: cov
        key: bigint
        sealed: {from: 2023-01-01T00:00:00Z, seal_key: "%s"}
      gone: {prefix: gon, key: bigint, retired: true}
    """
        .formatted(TestSealKeys.FIRST);
  }

  @Test
  void whatIsExportedHasNoDifference() throws IOException {
    Files.writeString(folder.resolve("salt.txt"), SALT + "\n");
    GATEWAY.client().put("/v1/segments/numbers", "{}");
    Terminal applied = apply(everyPolicy());
    assertThat(applied.err()).isEmpty();
    assertThat(applied.status()).isZero();
    assertThat(plan(everyPolicy()).status()).isZero();

    Terminal exported = run("export");

    assertThat(exported.status()).isZero();
    assertThat(exported.err()).contains("COATCHECK_SALT_HASHED").doesNotContain(SALT);
    assertThat(exported.out())
        .doesNotContain(SALT)
        .contains("env: COATCHECK_SALT_HASHED")
        .contains("client_names: shared")
        .doesNotContain("version", "created_at", "null", "expose_key: false");
    assertThat(plan(exported.out()).err())
        .contains("hashed.public_rule.salt: The variable COATCHECK_SALT_HASHED is not set");
    String file = exported.out().replace("env: COATCHECK_SALT_HASHED", "file: salt.txt");
    Terminal planned = plan(file);
    assertThat(planned.err()).isEmpty();
    assertThat(planned.lines()).noneMatch(line -> line.endsWith(": differs"));
    assertThat(planned.status()).isZero();

    Files.writeString(folder.resolve("salt.txt"), "another salt");
    Terminal differs = plan(file);
    assertThat(differs.status()).isEqualTo(3);
    assertThat(differs.out())
        .contains("hashed: differs\n  ~ public_rule.salt differs (hidden)\n")
        .doesNotContain(SALT, "another salt");
    assertThat(run("plan", "--json", "-f", folder.resolve("types.yaml").toString()).out())
        .doesNotContain(SALT, "another salt");
  }
}

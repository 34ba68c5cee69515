package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.ids.registry.TestType;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The code in {@code docs/recipes}, run in its framework: row 42 has the same public ID each time
 * and is found by it; the public ID of another type, an unknown one and a typo find no row. A wrong
 * API key is an error: a live link is not "not found".
 */
@Tag("clients")
class RecipesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final int LINES_MAX = 14;

  /** Begins the reason of a skip, which CI accepts. */
  private static final String NO_RUNTIME = "no runtime of a recipe: ";

  private static final String PRINTED =
      """
      same true
      row 42
      another type: none
      unknown: none
      typo: none
      """;

  private static final String WRONG_KEY = "wrong API key: an error\n";

  @TempDir Path folder;

  private String userId;

  @BeforeEach
  void types() {
    GATEWAY.client().put(TestType.of("charge", "ch").with("generate", "none"));
    GATEWAY.client().put(TestType.of("user", "usr").with("generate", "none"));
    userId = GATEWAY.client().mint("user", "key", "42").text("/id");
  }

  /** Else a gateway with links from the README refuses it with {@code links_would_die}. */
  @Test
  void theTypeOfEachPageIsThatOfTheReadme() throws IOException {
    String type =
        "{\"prefix\":\"ch\",\"key\":\"bigint\",\"generate\":\"none\","
            + "\"redirect\":{\"template\":\"https://shop.example/charges/{id}\"}}";

    assertThat(Path.of("README.md")).content().contains(type);
    assertThat(Path.of("docs/spring.md")).content().contains(type);
    assertThat(List.of("rails", "django", "node", "spring"))
        .allSatisfy(
            page ->
                assertThat(Path.of("docs/recipes", page + ".md"))
                    .content()
                    .contains(
                        "types put charge --prefix ch --generate none"
                            + " --redirect 'https://shop.example/charges/{id}'"));
  }

  @Test
  void rails() throws Exception {
    require(
        "Ruby with ActiveRecord and SQLite",
        "ruby",
        "-e",
        "require 'active_record'; require 'sqlite3'");
    Files.writeString(folder.resolve("public_id.rb"), code("rails", "ruby"));

    assertThat(
            printed(
                """
                require "erb"
                require "json"
                require "active_record"
                ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
                ActiveRecord::Schema.verbose = false
                ActiveRecord::Schema.define { create_table(:charges) }
                require_relative "public_id"
                class Charge < ActiveRecord::Base
                  include PublicId
                end
                charge = Charge.create!(id: 42)
                puts "same #{charge.to_param == Charge.first.to_param}"
                puts "row #{PublicId.find(Charge, charge.to_param).id}"
                ARGV.each_slice(2) do |what, text|
                  PublicId.find(Charge, text)
                rescue ActiveRecord::RecordNotFound
                  puts "#{what}: none"
                end
                PublicId::HEADERS["Authorization"] = "Bearer wrong"
                begin
                  PublicId.find(Charge, ARGV[1])
                rescue Net::HTTPClientException
                  puts "wrong API key: an error"
                end
                """,
                "main.rb",
                "ruby"))
        .isEqualTo(PRINTED + WRONG_KEY);
  }

  @Test
  void django() throws Exception {
    String python =
        Stream.of("python3", "/usr/bin/python3")
            .filter(program -> CoatcheckProgram.succeeds(program, "-c", "import django"))
            .findFirst()
            .orElse("");
    assumeTrue(!python.isEmpty(), NO_RUNTIME + "Django");
    Files.writeString(folder.resolve("public_id.py"), code("django", "python"));

    assertThat(
            printed(
                """
                import os
                import sys
                import django
                from django.conf import settings
                settings.configure(ROOT_URLCONF="__main__", ALLOWED_HOSTS=["*"], SECRET_KEY="x")
                django.setup()
                from django.http import HttpResponse
                from django.test import Client
                from django.urls import path, register_converter, reverse
                from public_id import ChargeKey
                register_converter(ChargeKey, "charge")
                def charge(request, key):
                    return HttpResponse("row %d" % key)
                urlpatterns = [path("charges/<charge:key>", charge, name="charge")]
                url = reverse("charge", args=[42])
                print("same", str(url == reverse("charge", args=[42])).lower())
                print(Client().get(url).content.decode())
                for what, text in zip(sys.argv[1::2], sys.argv[2::2]):
                    if Client().get("/charges/" + text).status_code == 404:
                        print(what + ": none")
                os.environ["COATCHECK_API_KEY"] = "wrong"
                if Client(raise_request_exception=False).get(url).status_code == 500:
                    print("wrong API key: an error")
                """,
                "main.py", python))
        .isEqualTo(PRINTED + WRONG_KEY);
  }

  @Test
  void node() throws Exception {
    require("Node 18", "node", "-e", "if (typeof fetch != 'function') process.exit(1)");
    Files.writeString(folder.resolve("public-id.mjs"), code("node", "js"));

    assertThat(
            printed(
                """
                import { key, publicId } from './public-id.mjs';
                const id = await publicId('charge', 42);
                console.log('same', id === await publicId('charge', 42n));
                console.log('row', await key('charge', id));
                for (let i = 2; i < process.argv.length; i += 2) {
                  if (await key('charge', process.argv[i + 1]) === undefined) console.log(`${process.argv[i]}: none`);
                }
                process.env.COATCHECK_API_KEY = 'wrong';
                await key('charge', id).catch(() => console.log('wrong API key: an error'));
                """,
                "main.mjs",
                "node"))
        .isEqualTo(PRINTED + WRONG_KEY);
  }

  @Test
  void spring() throws Exception {
    Path source =
        Files.writeString(
            folder.resolve("Drive.java"),
            """
            import java.util.Map;
            import org.springframework.context.annotation.AnnotationConfigApplicationContext;
            import org.springframework.core.convert.ConversionException;
            import org.springframework.core.convert.converter.Converter;
            import org.springframework.core.convert.support.DefaultConversionService;
            import org.springframework.stereotype.Component;
            import org.springframework.web.client.RestClient;

            %s
            class Drive {
              public static void main(String[] args) {
                try (var context = new AnnotationConfigApplicationContext(ChargeKeys.class)) {
                  ChargeKeys keys = context.getBean(ChargeKeys.class);
                  DefaultConversionService converters = new DefaultConversionService();
                  converters.addConverter(keys);
                  String id = keys.publicId(42);
                  System.out.println("same " + id.equals(keys.publicId(42)));
                  System.out.println("row " + converters.convert(id, ChargeKey.class).value());
                  for (int i = 0; i < args.length; i += 2) {
                    try {
                      converters.convert(args[i + 1], ChargeKey.class);
                    } catch (ConversionException refused) {
                      System.out.println(args[i] + ": none");
                    }
                  }
                }
              }
            }
            """
                .formatted(code("spring", "java")));
    String path = System.getProperty("java.class.path");
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(
                    null,
                    null,
                    null,
                    "-proc:none",
                    "-parameters",
                    "-cp",
                    path,
                    "-d",
                    folder.toString(),
                    source.toString()))
        .isZero();

    assertThat(
            ran(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                folder + File.pathSeparator + path,
                "Drive"))
        .isEqualTo(PRINTED);
  }

  /** The first block of a recipe. */
  private static String code(String recipe, String language) throws IOException {
    Matcher block =
        Pattern.compile("(?s)\n```" + language + "\n(.*?)```\n")
            .matcher(Files.readString(Path.of("docs/recipes", recipe + ".md")));
    assertThat(block.find()).isTrue();
    assertThat(block.group(1).lines().filter(RecipesTest::isCode).count())
        .as("lines of code")
        .isLessThanOrEqualTo(LINES_MAX);
    return block.group(1);
  }

  /** Not what only brings names in, or closes something. */
  private static boolean isCode(String line) {
    return !line.isBlank() && !line.strip().matches("(import|from|require|@Override|end|[})]).*");
  }

  private static void require(String runtime, String... command) {
    assumeTrue(CoatcheckProgram.succeeds(command), NO_RUNTIME + runtime);
  }

  private String printed(String program, String file, String runtime)
      throws IOException, InterruptedException {
    Files.writeString(folder.resolve(file), program);
    return ran(runtime, file);
  }

  /** With what finds no row as arguments. */
  private String ran(String... command) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder
        .command()
        .addAll(
            List.of(
                "another type",
                userId,
                "unknown",
                "ch_00000000000000000000002B",
                "typo",
                "ch_00000000000000000000002C"));
    builder.environment().put("COATCHECK_URL", GATEWAY.uri().toString());
    builder.environment().put("COATCHECK_API_KEY", GATEWAY.key());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}

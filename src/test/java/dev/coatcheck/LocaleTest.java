package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The locale that the launcher, the build and CI run in: one that the machine has. */
class LocaleTest {
  @Test
  void aLocaleThatIsNotInstalledIsReplaced() throws Exception {
    for (String variable : new String[] {"LC_ALL", "LANG", "LC_CTYPE", "LC_MESSAGES"}) {
      assertThat(localeFor(Map.of(variable, "xx_YY.UTF-8"))).startsWith("LC_ALL=C.UTF-8 ");
    }
  }

  @Test
  void withoutALocaleTheNamesOfFilesAreUtf8() throws Exception {
    assertThat(localeFor(Map.of())).isEqualTo("LC_ALL= LC_CTYPE=C.UTF-8");
  }

  @Test
  void aLocaleThatIsInstalledIsKept() throws Exception {
    assertThat(localeFor(Map.of("LANG", "C.UTF-8"))).isEqualTo("LC_ALL= LC_CTYPE=");
  }

  @Test
  void aLocaleOfAsciiAloneIsReplaced() throws Exception {
    assertThat(localeFor(Map.of("LC_ALL", "C"))).startsWith("LC_ALL=C.UTF-8 ");
    assertThat(localeFor(Map.of("LANG", "POSIX"))).startsWith("LC_ALL=C.UTF-8 ");
  }

  private static String localeFor(Map<String, String> environment)
      throws IOException, InterruptedException {
    ProcessBuilder shell =
        new ProcessBuilder(
            "sh",
            "-c",
            ". build/locale.sh; printf 'LC_ALL=%s LC_CTYPE=%s' \"$LC_ALL\" \"$LC_CTYPE\"");
    shell.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.equals("LANG"));
    shell.environment().putAll(environment);
    Process process = shell.start();
    String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
    process.waitFor();
    return printed;
  }
}

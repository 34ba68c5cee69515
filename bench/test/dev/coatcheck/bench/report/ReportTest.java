package dev.coatcheck.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Verdicts, the table, the file, and the comparison of two runs. */
class ReportTest {
  private static Row rate(Samples measured, Samples baseline) {
    return new Row(
        "P1",
        "cached redirect",
        "a second",
        false,
        measured,
        Optional.of(new Row.Baseline("nginx", baseline)),
        Optional.of(Goal.ratioAtLeast(0.75)));
  }

  private static Row cpu(double... micros) {
    return new Row(
        "P3 CPU",
        "gateway, each",
        "µs CPU",
        true,
        Samples.of(micros),
        Optional.empty(),
        Optional.of(Goal.atMost(50)));
  }

  private static Report report(Row... rows) {
    return new Report(
        "2026-11-22T00:00:00Z",
        Map.of("connections", "64"),
        List.of("nginx is not installed."),
        List.of(rows));
  }

  @Test
  void aRatioOrAFigureIsJudgedByItsBound() {
    assertThat(rate(Samples.of(75), Samples.of(100)).verdict()).isEqualTo(Row.Verdict.MET);
    assertThat(rate(Samples.of(74), Samples.of(100)).verdict()).isEqualTo(Row.Verdict.MISSED);
    assertThat(cpu(49, 50, 51).verdict()).isEqualTo(Row.Verdict.MET);
    assertThat(cpu(49, 51, 51).verdict()).isEqualTo(Row.Verdict.MISSED);
    Row unjudged = new Row("P2", "", "ms", true, Samples.of(1), Optional.empty(), Optional.empty());
    assertThat(unjudged.verdict()).isEqualTo(Row.Verdict.NONE);
  }

  @Test
  void aGoalOfARatioNeedsABaseline() {
    assertThatThrownBy(
            () ->
                new Row(
                    "P1",
                    "",
                    "ms",
                    true,
                    Samples.of(1),
                    Optional.empty(),
                    Optional.of(Goal.ratioAtMost(2))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theTableHasMediansSpreadsRatioGoalAndVerdict() {
    String table =
        TableText.of(
            report(
                rate(Samples.of(40_000, 54_000, 50_000), Samples.of(100_000, 90_000, 120_000)),
                cpu(122)));

    assertThat(table.lines().map(line -> line.replaceAll(" +", " ").strip()))
        .contains(
            "connections: 64",
            "P1 cached redirect a second 50,000 40,000-54,000 nginx 100,000 90,000-120,000 0.50"
                + " 0.40-0.60 >= 0.75 missed",
            "P3 CPU gateway, each µs CPU 122.0 122.0-122.0 - - - - - <= 50.00 µs CPU missed",
            "Note: nginx is not installed.");
  }

  @Test
  void thePictureIsWellFormedAndShowsEveryRow() throws Exception {
    Row odd =
        new Row("P9 <odd>", "R&D", "ms", true, Samples.of(1), Optional.empty(), Optional.empty());
    Report report = report(rate(Samples.of(150), Samples.of(100)), cpu(122), odd);

    String svg = TablePicture.of(report);

    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(svg)));
    List<String> texts = new ArrayList<>();
    NodeList nodes = document.getElementsByTagName("text");
    for (int i = 0; i < nodes.getLength(); i++) {
      texts.add(nodes.item(i).getTextContent());
    }
    assertThat(texts)
        .contains("P1", "cached redirect", "1.50, >= 0.75: met")
        .contains("P3 CPU", "122.0 µs CPU, <= 50.00: missed")
        .contains("P9 <odd>", "R&D", "1.00 ms");
    NodeList bars = document.getElementsByTagName("rect");
    assertThat(bars.getLength()).as("rows with a goal").isEqualTo(2);
    assertThat(width(bars.item(0))).as("twice the goal, cut").isEqualTo(285);
    assertThat(width(bars.item(1))).as("50 of 122").isEqualTo(61.5);
    assertThat(svg).contains("prefers-color-scheme: dark");
  }

  private static double width(Node bar) {
    return Double.parseDouble(bar.getAttributes().getNamedItem("width").getTextContent());
  }

  @Test
  void aReportComesBackFromItsFileAsItWas(@TempDir Path folder) throws IOException {
    Report report = report(rate(Samples.of(1.5, 2), Samples.of(3, 4)), cpu(122));
    Path file = folder.resolve("run.json");

    report.write(file);

    assertThat(Report.read(file)).isEqualTo(report);
  }

  @Test
  void whatIsNoReportIsRefused(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("run.json");
    for (String odd : List.of("", "{}", "[1]", "no json", "{\"at\":\"x\",\"rows\":[{}]}")) {
      Files.writeString(file, odd);
      assertThatThrownBy(() -> Report.read(file))
          .as(odd)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is no report");
    }
  }

  @Test
  void twoRunsAreComparedByTheirRatiosAndByFiguresWithoutABaseline() {
    Report before =
        report(rate(Samples.of(50, 52), Samples.of(100, 100)), cpu(120, 124), other("P9"));
    Report now =
        new Report(
            "2026-11-23T00:00:00Z",
            Map.of("connections", "8"),
            List.of(),
            List.of(rate(Samples.of(160, 164), Samples.of(200, 200)), cpu(60, 64), other("P8")));

    String text = ComparisonText.of(before, now);

    assertThat(text.lines().map(line -> line.replaceAll(" +", " ").strip()))
        .contains(
            "Compared with the run of 2026-11-22T00:00:00Z",
            "Differs: connections was 64, is 8",
            "P1 cached redirect ratio 0.51 0.50-0.52 0.81 0.80-0.82 +59 % better",
            "P3 CPU gateway, each µs CPU 122.0 120.0-124.0 62.0 60.0-64.0 -49 % better")
        .noneMatch(line -> line.startsWith("P8") || line.startsWith("P9"));
    assertThat(ComparisonText.of(now, before)).contains("worse").doesNotContain("better");
  }

  @Test
  void whatLiesWithinTheSpreadIsNoChange() {
    Report before = report(cpu(100, 110, 120));
    Report now = report(cpu(118, 130, 140));

    assertThat(ComparisonText.of(before, now)).contains("+18 %").contains("within the spread");
  }

  private static Row other(String name) {
    return new Row(name, "", "ms", true, Samples.of(1), Optional.empty(), Optional.empty());
  }
}

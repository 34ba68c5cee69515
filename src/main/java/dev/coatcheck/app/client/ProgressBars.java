package dev.coatcheck.app.client;

import java.io.Console;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress bars, drawn on a terminal only. */
public final class ProgressBars {
  private ProgressBars() {}

  /** A bar from 0 to {@code max}. Closing it ends its line. */
  public static ProgressBar open(String task, String unit, long max) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setUnit(unit, 1)
        .setInitialMax(max)
        .setStyle(ProgressBarStyle.ASCII)
        .setConsumer(isDrawn() ? null : new DelegatingProgressBarConsumer(_ -> {}, 0))
        .build();
  }

  /** Whether standard output is a terminal. Which Javas return null here has changed twice. */
  @SuppressWarnings("SystemConsoleNull")
  public static boolean isDrawn() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }
}

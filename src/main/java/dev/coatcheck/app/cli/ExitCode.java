package dev.coatcheck.app.cli;

/** How a command ends, for scripts. */
enum ExitCode {
  DONE(0, "Done. types diff: there is no difference."),
  FAILED(
      1,
      "Failed, or some items or rows were refused; standard error says why. types diff: there is a"
          + " difference. find and inspect: the text is nothing that is known. health: not ready."),
  MISUSED(2, "The arguments or the configuration are wrong; nothing was done."),
  INTERRUPTED(130, "Ended by Ctrl-C."),
  TERMINATED(143, "Ended by SIGTERM; serve had time to finish.");

  private final int status;
  private final String meaning;

  ExitCode(int status, String meaning) {
    this.status = status;
    this.meaning = meaning;
  }

  int status() {
    return status;
  }

  String meaning() {
    return meaning;
  }
}

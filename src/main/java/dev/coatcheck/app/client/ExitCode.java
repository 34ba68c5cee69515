package dev.coatcheck.app.client;

/** How a command ends, for scripts. */
public enum ExitCode {
  DONE(0, "Done. types diff, types plan: there is no difference."),
  FAILED(
      1,
      "Failed, or some items or rows were refused; standard error says why. types diff: there is a"
          + " difference. find and inspect: the text is nothing that is known. health: not ready."),
  MISUSED(2, "The arguments or the configuration are wrong; nothing was done."),
  DRIFT(3, "types plan: the gateway differs from the file."),
  INTERRUPTED(130, "Ended by Ctrl-C."),
  READER_GONE(141, "The reader of standard output ended first, as head does."),
  TERMINATED(143, "Ended by SIGTERM; serve had time to finish.");

  private final int status;
  private final String meaning;

  ExitCode(int status, String meaning) {
    this.status = status;
    this.meaning = meaning;
  }

  public int status() {
    return status;
  }

  public String meaning() {
    return meaning;
  }
}

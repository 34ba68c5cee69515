package dev.coatcheck.postgres.session;

import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A statement that waits for other sessions.
 *
 * @param operation the caller's name for the statement
 * @param event what it waits for: a phase of an index build ({@code waiting for old snapshots}), or
 *     a kind of lock
 * @param sessions those that block it, the oldest transaction first; empty if Postgres doesn't tell
 */
public record LockWait(String operation, String event, List<BlockingSession> sessions) {
  public LockWait {
    sessions = List.copyOf(sessions);
  }

  /**
   * A blocking session. Values that the role may not see are null.
   *
   * @param pid its process at the server; 0: a prepared transaction
   * @param application its application name, the kind of server process, or {@code prepared
   *     transaction} with its identifier as a literal
   * @param since when its transaction began
   */
  public record BlockingSession(
      int pid,
      @Nullable String user,
      @Nullable String application,
      @Nullable String state,
      @Nullable Instant since) {

    public String text() {
      if (pid == 0) {
        return "the %s (user %s), prepared since %s".formatted(application, user, since);
      }
      return "process %d (user %s, application %s), %s since %s"
          .formatted(
              pid,
              user == null ? "unknown" : user,
              application == null ? "unnamed" : application,
              state == null ? "in a state that our role may not see" : state,
              since == null ? "an unknown time" : since);
    }
  }

  /** One sentence that names the blocking sessions. */
  public String text() {
    String who = sessions.stream().map(BlockingSession::text).collect(Collectors.joining("; "));
    return operation
        + ": "
        + event
        + (who.isEmpty() ? "" : ", held up by " + who + ". It continues when these sessions end");
  }
}

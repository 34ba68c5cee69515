package dev.coatcheck.postgres.session;

import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A statement that waits for other sessions.
 *
 * @param operation the statement, as its caller names it
 * @param event what it waits for: a phase of an index build ({@code waiting for old snapshots}), or
 *     a kind of lock
 * @param sessions those in its way, the oldest transaction first; empty if Postgres doesn't say
 */
public record LockWait(String operation, String event, List<BlockingSession> sessions) {
  public LockWait {
    sessions = List.copyOf(sessions);
  }

  /**
   * A session in the way. What the role may not see of others is null.
   *
   * @param pid its process at the server; 0: a prepared transaction
   * @param application as it calls itself, or what kind of server process it is
   * @param since when its transaction began
   */
  public record BlockingSession(
      int pid,
      @Nullable String user,
      @Nullable String application,
      @Nullable String state,
      @Nullable Instant since) {

    public String text() {
      return "process %d (user %s, application %s), %s since %s"
          .formatted(
              pid,
              user == null ? "unknown" : user,
              application == null ? "unnamed" : application,
              state == null ? "in a state that our role may not see" : state,
              since == null ? "an unknown time" : since);
    }
  }

  /** In one sentence, with the sessions to talk to. */
  public String text() {
    String who = sessions.stream().map(BlockingSession::text).collect(Collectors.joining("; "));
    return operation
        + ": "
        + event
        + (who.isEmpty() ? "" : ", held up by " + who + ". It continues when these sessions end");
  }
}

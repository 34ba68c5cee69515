package dev.coatcheck.api.console.overview;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.cluster.instance.Instance;
import dev.coatcheck.core.observe.History;
import dev.coatcheck.core.observe.Measure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Something that is wrong now.
 *
 * @param what is the case
 * @param advice what to do about it
 */
record Concern(String what, String advice) {
  /** The last minute. */
  private static final int STEPS = 6;

  static final Duration UNSEEN_MAX = Duration.ofSeconds(75);
  private static final double FEED_SILENT_SECONDS_MAX = 2;

  static List<Concern> of(History history, boolean isReady, List<Instance> instances) {
    List<Concern> all = new ArrayList<>();
    if (!isReady) {
      all.add(
          new Concern(
              "This instance is not ready: Postgres doesn't answer it.",
              "Requests for what is in memory are answered, all others get 503"
                  + " database_unavailable. It heals by itself once Postgres answers: look at its"
                  + " log, its connections and the network."));
    } else if (history.last(Measure.FEED_SILENT) > FEED_SILENT_SECONDS_MAX) {
      all.add(
          new Concern(
              "The change feed was silent for %d s."
                  .formatted(Math.round(history.last(Measure.FEED_SILENT))),
              "Until it is heard again this instance asks Postgres for each public ID, which is"
                  + " slower. It heals by itself."));
    }
    double shed = history.sum(Measure.SHED, STEPS);
    if (shed >= 1) {
      all.add(
          new Concern(
              "Refused with 503 overloaded in the last minute: %s."
                  .formatted(Display.count(Math.round(shed), "request", "requests")),
              "More come than this instance can handle. Clients send them again; add an instance,"
                  + " or limit the busiest API key (rate limits)."));
    }
    double failed = history.sum(Measure.SERVER_ERRORS, STEPS) - shed;
    if (failed >= 1) {
      all.add(
          new Concern(
              "Answered with a status from 500 on in the last minute: about %s."
                  .formatted(Display.count(Math.round(failed), "request", "requests")),
              "The log has a line with the request's ID for each that failed here, and one for"
                  + " each operation that Postgres didn't answer."));
    }
    if (history.last(Measure.WAITING) >= 1) {
      all.add(
          new Concern(
              "%s for a connection to Postgres."
                  .formatted(
                      Display.count(
                          Math.round(history.last(Measure.WAITING)),
                          "request waits",
                          "requests wait")),
              "All connections of the pool are in use. Look for slow statements and locks in"
                  + " Postgres; COATCHECK_DATABASE_CONNECTIONS sets the size of the pool."));
    }
    instances.stream()
        .filter(instance -> instance.unseen().compareTo(UNSEEN_MAX) > 0)
        .forEach(
            gone ->
                all.add(
                    new Concern(
                        "Instance %s is no longer heard.".formatted(gone.holder()),
                        "It was stopped, killed, or can't reach Postgres. Its workers are free"
                            + " again when their leases end.")));
    return all;
  }
}

package dev.coatcheck.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The measures that write: mints, one by one and in batches. */
record Writes(Requests requests, BaselineStore store, InterleavedRounds turns) {
  /** How many clients insert; the best of them is the baseline. */
  static final List<Integer> INSERTING_CLIENTS = List.of(4, 8, 16);

  List<Comparison> measure(Set<Measure> measures) {
    List<Comparison> all = new ArrayList<>();
    if (measures.contains(Measure.P4)) {
      all.add(mints());
    }
    if (measures.contains(Measure.P5)) {
      HttpLoad batches = requests.batches();
      List<Pace> paces =
          turns.take(List.of(time -> batches.during(time).times(Requests.BATCH_ROWS), store::copy));
      all.add(
          new Comparison(
              Measure.P5, paces.get(0).perSecond(), "binary COPY", paces.get(1).perSecond()));
    }
    return all;
  }

  private Comparison mints() {
    List<InterleavedRounds.Side> sides = new ArrayList<>();
    sides.add(requests.mints());
    INSERTING_CLIENTS.forEach(clients -> sides.add(time -> store.inserts(clients, time)));
    List<Pace> paces = turns.take(sides);
    int best = 1;
    for (int i = 2; i < paces.size(); i++) {
      best = paces.get(i).perSecond() > paces.get(best).perSecond() ? i : best;
    }
    return new Comparison(
        Measure.P4,
        paces.getFirst().perSecond(),
        "JDBC insert, " + INSERTING_CLIENTS.get(best - 1) + " clients",
        paces.get(best).perSecond());
  }
}

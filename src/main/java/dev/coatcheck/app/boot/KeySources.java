package dev.coatcheck.app.boot;

import dev.coatcheck.api.routes.keys.KeyRoutes;
import dev.coatcheck.cluster.grant.DatedGenerators;
import dev.coatcheck.cluster.grant.KeyFence;
import dev.coatcheck.cluster.grant.Segments;
import dev.coatcheck.cluster.lease.KeyGenerators;
import dev.coatcheck.cluster.lease.LeaseSettings;
import dev.coatcheck.cluster.lease.WorkerRanges;
import dev.coatcheck.cluster.lease.Workers;
import dev.coatcheck.core.key.DatedKeys;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.scheme.TextSchemes;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.Database;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;

/** The sources of this instance's keys. */
record KeySources(
    WorkerRanges ranges, KeyGenerators leased, DatedGenerators dated, Segments segments)
    implements AutoCloseable {

  /** Starts leasing a worker of the default layout. */
  static KeySources open(
      Config.LeaseLimits limits,
      String holder,
      DataSource leasePool,
      Database database,
      Observer observer,
      InstantSource clock) {
    WorkerRanges ranges = limits.workers();
    KeyGenerators leased =
        new KeyGenerators(
            layout ->
                ranges
                    .leased(layout)
                    .map(
                        range ->
                            new LeaseSettings(
                                layout,
                                range.first(),
                                range.last(),
                                holder,
                                limits.windowSeconds() * 1_000L)),
            leasePool,
            observer,
            clock);
    leased.prepare(new KeyTimes.Snowflakes(SnowflakeLayout.DEFAULT));
    return new KeySources(
        ranges,
        leased,
        new DatedGenerators(database, ranges::dated, observer),
        new Segments(database, observer, System::nanoTime));
  }

  /** Leases a worker before the first mint of a type. */
  void prepare(Type type) {
    type.keyTimes().ifPresent(leased::prepare);
  }

  KeyGenerator of(Type type) {
    return switch (type.generation()) {
      case KeyTimes keys -> leased.of(keys);
      case KeyGeneration.Segment(String tag) -> segments.generator(tag);
      case KeyGeneration.None _ ->
          throw new IllegalStateException("no keys are generated for the type " + type.name());
    };
  }

  Optional<DatedKeys> datedOf(Type type) {
    return type.keyTimes().flatMap(dated::of);
  }

  KeyRoutes.Makers makers(Database database) {
    return new KeyRoutes.Makers(
        leased, dated, segments, new TextSchemes(), new Workers(database), new KeyFence(database));
  }

  /**
   * @param used the layouts of types
   */
  void tellLayoutsWithoutRange(Set<SnowflakeLayout> used, Observer observer) {
    Set<SnowflakeLayout> known = new LinkedHashSet<>(SnowflakeLayout.NAMED);
    known.addAll(used);
    for (SnowflakeLayout layout : known) {
      if (ranges.leased(layout).isEmpty()) {
        observer.observe(new Event.LayoutWithoutWorkers(layout.name(), used.contains(layout)));
      }
    }
  }

  @Override
  public void close() {
    leased.close();
  }
}

package dev.coatcheck.source;

import java.util.*;

public record TableShape(
    long oid,
    String keyColumn,
    String keyType,
    Optional<Target.TimeColumn> createdAt,
    long highestId,
    long rows,
    long bytes,
    long olderThanEpoch,
    List<Finding> preconditions,
    List<Finding> notes) {}

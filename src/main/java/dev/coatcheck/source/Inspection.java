package dev.coatcheck.source;

import java.util.List;

public sealed interface Inspection {
  record Sound(TableShape shape) implements Inspection {}

  record Refused(List<Finding> findings) implements Inspection {}
}

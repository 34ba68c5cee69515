package dev.coatcheck.cluster.grant;

/** The outcome of defining a segment. */
public sealed interface SegmentPut {
  record Created(SegmentState state) implements SegmentPut {}

  /** The segment exists; its steps are the new ones. */
  record Replaced(SegmentState state) implements SegmentPut {}

  /** The segment counts in another way, which can't be changed. Nothing was done. */
  record CountsOtherwise(String field) implements SegmentPut {}
}

package dev.coatcheck.cluster.grant;

/** The outcome of defining a segment. */
public sealed interface SegmentPut {
  record Created(SegmentState state) implements SegmentPut {}

  /** It was there; its steps are the new ones. */
  record Replaced(SegmentState state) implements SegmentPut {}

  /** It counts in another way, which never changes. Nothing was done. */
  record CountsOtherwise(String field) implements SegmentPut {}
}

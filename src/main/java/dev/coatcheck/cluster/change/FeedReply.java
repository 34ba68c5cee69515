package dev.coatcheck.cluster.change;

import java.util.List;

/** What a poll of the feed brought. */
sealed interface FeedReply {

  /**
   * The changes after a number, in order.
   *
   * @param head the last number there is
   */
  record Read(long head, List<Change> changes) implements FeedReply {
    public Read {
      changes = List.copyOf(changes);
    }

    /** Whether they are all that there is after {@code position}, or as many as a read takes. */
    boolean follows(long position) {
      if (changes.isEmpty()) {
        return head == position;
      }
      long last = position + changes.size();
      return changes.getFirst().number() == position + 1
          && changes.getLast().number() == last
          && last <= head;
    }
  }

  record Failed(String reason) implements FeedReply {}

  /** One row. The kind is a text: a newer instance may know more of them. */
  record Change(long number, String kind, String subject) {}
}

package dev.coatcheck.cluster.change;

import java.util.List;
import java.util.Optional;

/** The result of a poll. */
sealed interface FeedReply {

  /**
   * The changes after a number, in order.
   *
   * @param head the last number in the feed
   * @param last the change of that number; empty if its row is gone
   */
  record Read(long head, List<Row> changes, Optional<LastChange> last) implements FeedReply {
    public Read {
      changes = List.copyOf(changes);
    }

    /** Whether the changes are all that follow {@code position}, or a full read. */
    boolean follows(long position) {
      if (changes.isEmpty()) {
        return head == position;
      }
      long last = position + changes.size();
      return changes.getFirst().number() == position + 1
          && changes.getLast().number() == last
          && last <= head;
    }

    List<String> subjects(ChangeKind kind) {
      return changes.stream()
          .filter(change -> change.kind().equals(kind.wireName()))
          .map(Row::subject)
          .toList();
    }
  }

  record Failed(String reason) implements FeedReply {}

  /** One row. The kind is a text because a newer instance may know more kinds. */
  record Row(long number, String kind, String subject) {}
}

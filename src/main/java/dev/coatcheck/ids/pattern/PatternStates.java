package dev.coatcheck.ids.pattern;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Predicate;

/**
 * A pattern as its states: each stands for one character of the text and knows which states may
 * come next (Glushkov's construction). There are no empty moves, so a step of a walk looks at each
 * state at most once.
 */
final class PatternStates {
  static final int STATES_MAX = 512;

  private final List<BitSet> characters = new ArrayList<>();
  private final List<BitSet> next = new ArrayList<>();
  private Part whole = Part.EMPTY;

  /** A stretch of the pattern: whether it can be empty, where it can begin and where end. */
  record Part(boolean canBeEmpty, BitSet first, BitSet last) {
    static final Part EMPTY = new Part(true, new BitSet(), new BitSet());
  }

  boolean isFull() {
    return characters.size() == STATES_MAX;
  }

  Part state(BitSet accepted) {
    BitSet self = new BitSet();
    self.set(characters.size());
    characters.add(accepted);
    next.add(new BitSet());
    return new Part(false, self, self);
  }

  Part sequence(Part left, Part right) {
    follow(left.last(), right.first());
    return new Part(
        left.canBeEmpty() && right.canBeEmpty(),
        left.canBeEmpty() ? union(left.first(), right.first()) : left.first(),
        right.canBeEmpty() ? union(left.last(), right.last()) : right.last());
  }

  Part either(Part left, Part right) {
    return new Part(
        left.canBeEmpty() || right.canBeEmpty(),
        union(left.first(), right.first()),
        union(left.last(), right.last()));
  }

  Part optional(Part part) {
    return new Part(true, part.first(), part.last());
  }

  Part repeated(Part part) {
    follow(part.last(), part.first());
    return part;
  }

  PatternStates finished(Part pattern) {
    whole = pattern;
    return this;
  }

  Walk walk() {
    return new Walk();
  }

  /** Where in the pattern one may be after the characters so far. */
  final class Walk {
    private BitSet reachable = whole.first();
    private boolean ended = whole.canBeEmpty();

    boolean isAlive() {
      return ended || !reachable.isEmpty();
    }

    boolean isAtEnd() {
      return ended;
    }

    void step(char c) {
      step(accepted -> accepted.get(c));
    }

    /** As if each of the characters were tried. */
    void stepAny(BitSet alternatives) {
      step(accepted -> accepted.intersects(alternatives));
    }

    private void step(Predicate<BitSet> passes) {
      BitSet after = new BitSet();
      boolean atEnd = false;
      for (int at = reachable.nextSetBit(0); at >= 0; at = reachable.nextSetBit(at + 1)) {
        if (passes.test(characters.get(at))) {
          after.or(next.get(at));
          atEnd |= whole.last().get(at);
        }
      }
      reachable = after;
      ended = atEnd;
    }
  }

  private void follow(BitSet from, BitSet to) {
    from.stream().forEach(state -> next.get(state).or(to));
  }

  private static BitSet union(BitSet left, BitSet right) {
    BitSet both = (BitSet) left.clone();
    both.or(right);
    return both;
  }
}

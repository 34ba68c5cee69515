package dev.coatcheck.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Cuts lists to what one call takes, and puts the answers into their order again. */
final class Batches {
  static final int ITEMS_MAX = 1_000;

  /** A call takes 1 MiB. */
  private static final long BYTES_MAX = 1_000_000;

  private Batches() {}

  /** The parts of a list, of 1,000 items each but the last. */
  static <Q> List<List<Q>> cut(List<Q> items) {
    List<List<Q>> parts = new ArrayList<>();
    for (int from = 0; from < items.size(); from += ITEMS_MAX) {
      parts.add(items.subList(from, Math.min(items.size(), from + ITEMS_MAX)));
    }
    return parts;
  }

  /** The parts of a list of texts, whose JSON fits into one call too. */
  static List<List<String>> cutBySize(List<String> texts) {
    List<List<String>> parts = new ArrayList<>();
    int from = 0;
    long bytes = 0;
    for (int i = 0; i < texts.size(); i++) {
      long more = Json.write(Map.of("", texts.get(i))).length;
      if (i > from && (i - from == ITEMS_MAX || bytes + more > BYTES_MAX)) {
        parts.add(texts.subList(from, i));
        from = i;
        bytes = 0;
      }
      bytes += more;
    }
    parts.addAll(cut(texts.subList(from, texts.size())));
    return parts;
  }

  /** One answer for each item, in their order; calls once for each part. */
  static <Q, R> List<R> each(List<Q> items, Function<List<Q>, List<R>> call) {
    return eachOf(cut(items), call);
  }

  /**
   * One answer for each item, in their order: of the sendable ones that of {@code call}, of the
   * others {@code refusal}. A body with one of those is refused as a whole.
   */
  static <Q, R> List<R> sparing(
      List<Q> items, Predicate<Q> isSendable, R refusal, Function<List<Q>, List<R>> call) {
    Iterator<R> answers = call.apply(items.stream().filter(isSendable).toList()).iterator();
    List<R> all = new ArrayList<>(items.size());
    items.forEach(item -> all.add(isSendable.test(item) ? answers.next() : refusal));
    return Collections.unmodifiableList(all);
  }

  /** One answer for each item of some parts. */
  static <Q, R> List<R> eachOf(List<List<Q>> parts, Function<List<Q>, List<R>> call) {
    List<R> answers = new ArrayList<>();
    parts.forEach(part -> answers.addAll(call.apply(part)));
    return Collections.unmodifiableList(answers);
  }

  /**
   * What the entries of an answer say of their items, in the order of the items.
   *
   * @param result of an item and its entry
   * @throws CoatcheckException unless each item has exactly one entry
   */
  static <Q, R> List<R> paired(
      GatewayAnswer answer, List<Q> items, BiFunction<Q, Fields, R> result) {
    @Nullable Fields[] byIndex = new Fields[items.size()];
    List<Fields> entries = answer.fields().list("data");
    for (Fields entry : entries) {
      int index = entry.number("index").orElse(-1);
      if (index < 0 || index >= byIndex.length || byIndex[index] != null) {
        throw unpaired(entries.size(), byIndex.length);
      }
      byIndex[index] = entry;
    }
    List<R> results = new ArrayList<>(byIndex.length);
    for (Fields entry : byIndex) {
      if (entry == null) {
        throw unpaired(entries.size(), byIndex.length);
      }
      results.add(result.apply(items.get(results.size()), entry));
    }
    return results;
  }

  private static CoatcheckException unpaired(int entries, int items) {
    return new CoatcheckException(
        Problem.ofClient(
            Problem.NOT_A_GATEWAY,
            "The answer has " + entries + " entries for " + items + " items, or not one for each."),
        null);
  }
}

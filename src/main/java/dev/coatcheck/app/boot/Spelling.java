package dev.coatcheck.app.boot;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** What a misspelt word was to be. */
public final class Spelling {
  private static final int LETTERS_MAX = 2;

  private Spelling() {}

  /** The nearest of the known words, within two edits; none for a word of no more letters. */
  public static Optional<String> near(String word, Collection<String> known) {
    if (word.length() <= LETTERS_MAX) {
      return Optional.empty();
    }
    return known.stream()
        .filter(other -> distance(word, other) <= LETTERS_MAX)
        .min(Comparator.comparingInt(other -> distance(word, other)));
  }

  /** The number of letters to insert, delete or replace (Levenshtein distance). */
  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[other.length()];
  }
}

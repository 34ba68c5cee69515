package dev.coatcheck.bench.growth;

/** Where the mappings of a measurement are. */
public enum Storage {
  STORED("stored"),
  PARTITIONED("stored, 16 partitions"),
  SEALED("sealed");

  private final String words;

  Storage(String words) {
    this.words = words;
  }

  /** For people. */
  public String words() {
    return words;
  }
}

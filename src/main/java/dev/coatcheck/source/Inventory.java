package dev.coatcheck.source;

import java.util.*;

public final class Inventory {
  public Inspection inspect(Source source, Wish wish) {
    return new InventoryStore(source.database()).inspect(wish);
  }
}

package dev.coatcheck.app.demo;

/** How many rows the shop has when the demo begins. */
record ShopSize(long customers, long orders, long lines) {
  static ShopSize at(int pace) {
    return new ShopSize(20_000L / pace, 100_000L / pace, 300_000L / pace);
  }
}

package dev.coatcheck.app.demo;

final class ShopFailed extends Exception {
  private static final long serialVersionUID = 1L;

  ShopFailed(String message, Throwable cause) {
    super(message, cause);
  }
}

package dev.coatcheck.api.server;

/** The routes of one capability. */
public interface Routes {
  void register(Endpoints endpoints);
}

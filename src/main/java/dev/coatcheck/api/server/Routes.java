package dev.coatcheck.api.server;

public interface Routes {
  void register(Endpoints endpoints);
}

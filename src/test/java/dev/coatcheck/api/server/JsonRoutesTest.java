package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.HandlerType;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonRoutesTest {
  private static final JsonRoutes.Route MINT = route(HandlerType.POST, "/v1/ids");
  private static final JsonRoutes.Route REVOKE = route(HandlerType.POST, "/v1/ids/{id}/revoke");
  private static final JsonRoutes.Route PUT_TYPE = route(HandlerType.PUT, "/v1/types/{name}");
  private static final JsonRoutes.Route PATCH_TYPE = route(HandlerType.PATCH, "/v1/types/{name}");
  private static final JsonRoutes ROUTES =
      new JsonRoutes(List.of(PUT_TYPE, MINT, REVOKE, PATCH_TYPE));

  @Test
  void aRouteIsFoundByMethodAndPath() {
    assertThat(ROUTES.find("POST", "/v1/ids")).contains(MINT);
    assertThat(ROUTES.find("POST", "/v1/ids/ch_1/revoke")).contains(REVOKE);
    assertThat(ROUTES.find("PUT", "/v1/types/charge")).contains(PUT_TYPE);
    assertThat(ROUTES.find("PATCH", "/v1/types/charge")).contains(PATCH_TYPE);
  }

  @Test
  void anotherMethodOrPathIsNone() {
    assertThat(ROUTES.find("DELETE", "/v1/ids")).isEmpty();
    assertThat(ROUTES.find("DELETE", "/v1/types/charge")).isEmpty();
    assertThat(ROUTES.find("POST", "/v1/ids/")).isEmpty();
    assertThat(ROUTES.find("POST", "/v1/ids/a/b/revoke")).isEmpty();
    assertThat(ROUTES.find("POST", "/v1/ids/{id}")).isEmpty();
    assertThat(JsonRoutes.none().find("POST", "/v1/ids")).isEmpty();
  }

  private static JsonRoutes.Route route(HandlerType method, String path) {
    return new JsonRoutes.Route(method, path, Scope.ALL, 1, RequestBody.JSON);
  }
}

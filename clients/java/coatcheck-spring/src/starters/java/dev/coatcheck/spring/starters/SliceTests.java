package dev.coatcheck.spring.starters;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.MintRequest;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.spring.starters.ShopApplication.Charge;
import dev.coatcheck.test.FakeGateway;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.web.servlet.MockMvc;

/** Controllers alone, with a gateway in memory. */
abstract class SliceTests {
  @Autowired private MockMvc mvc;
  @Autowired private FakeGateway gateway;
  @Autowired private CoatcheckClient client;

  @TestConfiguration
  static class Gateway {
    @Bean
    FakeGateway gateway() {
      return new FakeGateway(Charge.class);
    }

    @Bean
    CoatcheckClient client(FakeGateway gateway) {
      return gateway.client();
    }
  }

  private PublicId<Charge> minted(long key) {
    return client.mint(MintRequest.of(Key.of(Charge.class, key))).mapping().id();
  }

  @Test
  void aPublicIdLeadsToItsKeyAndBack() throws Exception {
    PublicId<Charge> id = minted(42);

    mvc.perform(get("/rows/" + id))
        .andExpect(status().isOk())
        .andExpect(content().string("{\"id\":\"%s\",\"cents\":42}".formatted(id)));
  }

  @Test
  void whatIsWrongIsAProblem() throws Exception {
    PublicId<Charge> id = minted(43);
    client.revoke(id, null);

    mvc.perform(get("/rows/" + id))
        .andExpect(status().isGone())
        .andExpect(jsonPath("$.code").value("public_id_revoked"));
    mvc.perform(get("/rows/" + id + "x")).andExpect(status().isBadRequest());
    mvc.perform(get("/rows/sk_live_4KIWSf8WvPNoQDBwStVIDYGM"))
        .andExpect(status().isBadRequest())
        .andExpect(jsonPath("$.code").value("public_id_wrong_type"));
  }

  @Test
  void anOutageIs503() throws Exception {
    PublicId<Charge> id = minted(44);
    gateway.setReachable(false);
    try {
      mvc.perform(get("/rows/" + id)).andExpect(status().isServiceUnavailable());
    } finally {
      gateway.setReachable(true);
    }
  }
}

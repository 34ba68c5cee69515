package dev.coatcheck.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.coatcheck.id.InvalidPublicIdException;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

/** The modules of Jackson 2 and 3 do the same. */
class JacksonModulesTest {
  private static final String CHARGE = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
  private static final String OTHER_TYPE = "sk_live_4KIWSf8WvPNoQDBwStVIDYGM";
  private static final PublicId<Charge> ID = PublicId.of(Charge.class, CHARGE);

  @PublicIdType(prefix = "ch")
  record Charge() {}

  record Refund(PublicId<Charge> charge, List<PublicId<Charge>> more) {}

  record Totals(Map<PublicId<Charge>, Long> cents) {}

  record Untyped(PublicId<?> id) {}

  record Row(Key<Charge> id) {}

  record Sums(Map<Key<Charge>, Long> cents) {}

  /** A mapper that finds its modules, and one that also writes keys. */
  enum Jackson {
    TWO {
      @Override
      String write(Object value) throws Exception {
        return two(new CoatcheckJackson2Module()).writeValueAsString(value);
      }

      @Override
      <T> T read(Class<T> type, String json) throws Exception {
        return two(new CoatcheckJackson2Module()).readValue(json, type);
      }

      @Override
      String writeWithKeys(Object value, KeyTexts keys) throws Exception {
        return two(new CoatcheckJackson2Module(keys)).writeValueAsString(value);
      }

      private ObjectMapper two(CoatcheckJackson2Module module) {
        return new ObjectMapper().registerModule(module);
      }
    },

    THREE {
      @Override
      String write(Object value) {
        return JsonMapper.builder().findAndAddModules().build().writeValueAsString(value);
      }

      @Override
      <T> T read(Class<T> type, String json) {
        return JsonMapper.builder().findAndAddModules().build().readValue(json, type);
      }

      @Override
      String writeWithKeys(Object value, KeyTexts keys) {
        return JsonMapper.builder()
            .addModule(new CoatcheckJackson3Module(keys))
            .build()
            .writeValueAsString(value);
      }
    };

    abstract String write(Object value) throws Exception;

    abstract <T> T read(Class<T> type, String json) throws Exception;

    abstract String writeWithKeys(Object value, KeyTexts keys) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void aPublicIdIsAString(Jackson jackson) throws Exception {
    Refund refund = new Refund(ID, List.of(ID));
    String json = "{\"charge\":\"%s\",\"more\":[\"%s\"]}".formatted(CHARGE, CHARGE);

    assertThat(jackson.write(refund)).isEqualTo(json);
    assertThat(jackson.read(Refund.class, json)).isEqualTo(refund);
  }

  @ParameterizedTest
  @EnumSource
  void aPublicIdIsTheNameOfAField(Jackson jackson) throws Exception {
    Totals totals = new Totals(Map.of(ID, 250L));
    String json = "{\"cents\":{\"%s\":250}}".formatted(CHARGE);

    assertThat(jackson.write(totals)).isEqualTo(json);
    assertThat(jackson.read(Totals.class, json)).isEqualTo(totals);
    assertThatThrownBy(() -> jackson.read(Totals.class, json.replace(CHARGE, OTHER_TYPE)))
        .hasRootCauseInstanceOf(InvalidPublicIdException.class);
  }

  @ParameterizedTest
  @EnumSource
  void thePublicIdOfAnotherTypeIsRefused(Jackson jackson) {
    assertThatThrownBy(
            () ->
                jackson.read(Refund.class, "{\"charge\":\"%s\",\"more\":[]}".formatted(OTHER_TYPE)))
        .hasRootCauseInstanceOf(InvalidPublicIdException.class)
        .hasMessageContaining("The prefix must be ch.");
  }

  @ParameterizedTest
  @EnumSource
  void whatIsNoPublicIdIsRefused(Jackson jackson) {
    for (String value : List.of("\"ch_4KIWSf8WvPNoQDBwStVIDYHV\"", "\"\"", "42", "true", "{}")) {
      assertThatThrownBy(
              () -> jackson.read(Refund.class, "{\"charge\":%s,\"more\":[]}".formatted(value)))
          .as(value)
          .isInstanceOf(Exception.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPublicIdWithoutTypeIsRefused(Jackson jackson) {
    assertThatThrownBy(() -> jackson.read(Untyped.class, "{\"id\":\"%s\"}".formatted(CHARGE)))
        .hasMessageContaining("PublicId needs its type here");
  }

  @ParameterizedTest
  @EnumSource
  void noKeyLeavesTheApplicationByMistake(Jackson jackson) {
    Key<Charge> key = Key.of(Charge.class, 514719115370328064L);

    assertThatThrownBy(() -> jackson.write(new Row(key)))
        .hasMessageContaining("must not leave the application");
    assertThatThrownBy(() -> jackson.write(new Sums(Map.of(key, 1L))))
        .hasMessageContaining("must not leave the application");
  }

  @ParameterizedTest
  @EnumSource
  void aKeyIsWrittenAsItsPublicId(Jackson jackson) throws Exception {
    Key<Charge> key = Key.of(Charge.class, 514719115370328064L);

    assertThat(jackson.writeWithKeys(new Row(key), k -> CHARGE))
        .isEqualTo("{\"id\":\"%s\"}".formatted(CHARGE));
    assertThat(jackson.writeWithKeys(new Sums(Map.of(key, 1L)), k -> CHARGE))
        .isEqualTo("{\"cents\":{\"%s\":1}}".formatted(CHARGE));
  }

  @Test
  void aModuleWithKeysCountsBesideTheOneThatAMapperFinds() throws Exception {
    Row row = new Row(Key.of(Charge.class, 514719115370328064L));
    CoatcheckJackson2Module module = new CoatcheckJackson2Module(key -> CHARGE);
    String json = "{\"id\":\"%s\"}".formatted(CHARGE);

    assertThat(
            new ObjectMapper()
                .findAndRegisterModules()
                .registerModule(module)
                .writeValueAsString(row))
        .isEqualTo(json);
    assertThat(
            new ObjectMapper()
                .registerModule(module)
                .findAndRegisterModules()
                .writeValueAsString(row))
        .isEqualTo(json);
    assertThat(
            JsonMapper.builder()
                .findAndAddModules()
                .addModule(new CoatcheckJackson3Module(key -> CHARGE))
                .build()
                .writeValueAsString(row))
        .isEqualTo(json);
  }

  @ParameterizedTest
  @EnumSource
  void aKeyIsNeverRead(Jackson jackson) {
    assertThatThrownBy(() -> jackson.read(Row.class, "{\"id\":514719115370328064}"))
        .hasMessageContaining("A key is not read from JSON.");
  }

  @Test
  void jacksonFindsBothModules() {
    assertThat(ObjectMapper.findModules())
        .hasAtLeastOneElementOfType(CoatcheckJackson2Module.class);
    assertThat(tools.jackson.databind.cfg.MapperBuilder.findModules())
        .hasAtLeastOneElementOfType(CoatcheckJackson3Module.class);
  }
}

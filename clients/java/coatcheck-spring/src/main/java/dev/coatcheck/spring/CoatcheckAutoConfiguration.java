package dev.coatcheck.spring;

import dev.coatcheck.client.CallListener;
import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.MicrometerCalls;
import dev.coatcheck.jackson.CoatcheckJackson2Module;
import dev.coatcheck.jackson.CoatcheckJackson3Module;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The client, from the settings that begin with {@code coatcheck.}, and JSON. */
@AutoConfiguration
@EnableConfigurationProperties(CoatcheckProperties.class)
public final class CoatcheckAutoConfiguration {
  /**
   * The client of the application.
   *
   * @param settings with a URL
   * @param apiKey asked for the API key instead of the settings
   * @param listener hears of calls
   * @return a client that is closed with the application
   */
  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty("coatcheck.url")
  CoatcheckClient coatcheckClient(
      CoatcheckProperties settings,
      ObjectProvider<CoatcheckApiKey> apiKey,
      ObjectProvider<CallListener> listener) {
    CoatcheckClient.Builder builder =
        CoatcheckClient.builder(
                Objects.requireNonNull(settings.url(), "coatcheck.url is empty: leave it out"))
            .apiKey(settings.apiKey())
            .deadline(settings.deadline());
    apiKey.ifAvailable(builder::apiKey);
    listener.ifAvailable(builder::listener);
    if (settings.cachedAnswers() > 0) {
      builder.cache(settings.cachedAnswers());
    }
    return builder.build();
  }

  /**
   * From public IDs to keys.
   *
   * @param client calls the gateway
   * @return what controllers use
   */
  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnSingleCandidate(CoatcheckClient.class)
  PublicIds publicIds(CoatcheckClient client) {
    return new PublicIds(client);
  }

  /** Where there are metrics. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class Metrics {
    @Bean
    @ConditionalOnMissingBean
    CallListener coatcheckCalls(ObjectProvider<MeterRegistry> registries) {
      MeterRegistry registry = registries.getIfUnique();
      return registry == null
          ? (operation, status, tries, took) -> {}
          : new MicrometerCalls(registry);
    }
  }

  /** Where there is Jackson 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "tools.jackson.databind.JacksonModule")
  static class Jackson3 {
    @Bean
    @ConditionalOnMissingBean
    CoatcheckJackson3Module coatcheckJackson3Module() {
      return new CoatcheckJackson3Module(BodyKeys::textOf);
    }
  }

  /** Where there is Jackson 2. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "com.fasterxml.jackson.databind.Module")
  static class Jackson2 {
    @Bean
    @ConditionalOnMissingBean
    CoatcheckJackson2Module coatcheckJackson2Module() {
      return new CoatcheckJackson2Module(BodyKeys::textOf);
    }
  }
}

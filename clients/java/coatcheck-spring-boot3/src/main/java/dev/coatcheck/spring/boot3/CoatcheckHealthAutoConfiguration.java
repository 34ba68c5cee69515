package dev.coatcheck.spring.boot3;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.spring.CoatcheckAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The gateway as a part of the application's health, where there is Spring Boot's Actuator. */
@AutoConfiguration(after = CoatcheckAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("coatcheck")
public final class CoatcheckHealthAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean(name = "coatcheckHealthIndicator")
  @ConditionalOnSingleCandidate(CoatcheckClient.class)
  HealthIndicator coatcheckHealthIndicator(CoatcheckClient client) {
    return new CoatcheckHealthIndicator(client);
  }
}

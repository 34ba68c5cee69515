package dev.coatcheck.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.coatcheck.client.CoatcheckClient;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.format.FormatterRegistry;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import tools.jackson.databind.json.JsonMapper;

/**
 * Public IDs in controllers of Spring MVC. Of several mappers, that of the parameter's name is
 * injected, as by Spring Boot.
 */
@AutoConfiguration(
    after = CoatcheckAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration"
    })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(WebMvcConfigurer.class)
public final class CoatcheckWebAutoConfiguration {
  @Bean
  WebMvcConfigurer coatcheckWebMvcConfigurer(ObjectProvider<PublicIds> ids) {
    PublicIdConverter converter = new PublicIdConverter(ids.getIfAvailable());
    return new WebMvcConfigurer() {
      @Override
      public void addFormatters(FormatterRegistry registry) {
        registry.addConverter(converter);
      }

      @Override
      public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
        resolvers.add(new PublicIdArguments(converter));
      }
    };
  }

  @Bean
  @ConditionalOnMissingBean
  PublicIdAdvice coatcheckPublicIdAdvice(CoatcheckProperties settings) {
    return new PublicIdAdvice(new Problems(settings.wrongType()));
  }

  @Bean
  @ConditionalOnSingleCandidate(CoatcheckClient.class)
  @ConditionalOnBean(BodyWalk.class)
  BodyKeysAdvice coatcheckBodyKeysAdvice(
      CoatcheckClient client, BodyWalk walk, CoatcheckProperties settings) {
    return new BodyKeysAdvice(client, walk, settings.keys());
  }

  /** Where Spring writes JSON with Jackson 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
  static class Jackson3 {
    @Bean
    @ConditionalOnBean(type = "tools.jackson.databind.json.JsonMapper")
    BodyWalk coatcheckBodyWalk(JsonMapper jsonMapper) {
      return (body, view) ->
          (view == null ? jsonMapper.writer() : jsonMapper.writerWithView(view))
              .writeValue(OutputStream.nullOutputStream(), body);
    }
  }

  /** Where Spring writes JSON with Jackson 2. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "com.fasterxml.jackson.databind.ObjectMapper")
  static class Jackson2 {
    @Bean
    @ConditionalOnMissingBean(BodyWalk.class)
    @ConditionalOnBean(type = "com.fasterxml.jackson.databind.ObjectMapper")
    BodyWalk coatcheckBodyWalk2(ObjectMapper objectMapper) {
      return (body, view) -> {
        try {
          (view == null ? objectMapper.writer() : objectMapper.writerWithView(view))
              .writeValue(OutputStream.nullOutputStream(), body);
        } catch (IOException unwritable) {
          throw new HttpMessageNotWritableException(
              "Could not write JSON: " + unwritable.getMessage(), unwritable);
        }
      };
    }
  }
}

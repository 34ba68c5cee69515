package dev.coatcheck.spring;

import com.fasterxml.jackson.annotation.JsonView;
import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.Collector;
import dev.coatcheck.client.MintRequest;
import dev.coatcheck.client.MintResult;
import dev.coatcheck.client.Pending;
import dev.coatcheck.client.Problem;
import dev.coatcheck.client.Resolution;
import dev.coatcheck.id.Key;
import dev.coatcheck.spring.CoatcheckProperties.Keys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Gives the keys in an answer their public IDs, by one batch for each type of key.
 *
 * <p>A body is written twice, the first time to nowhere, which collects its keys. So a body with
 * keys costs twice the CPU time of its JSON, and a body without any, too; the batch costs one call
 * however many rows there are. Nothing is sent to the client before all keys have their texts: what
 * goes wrong is answered as an error, and never in the middle of a body.
 */
@ControllerAdvice
public final class BodyKeysAdvice implements ResponseBodyAdvice<Object> {
  private final CoatcheckClient client;
  private final BodyWalk walk;
  private final Keys source;

  BodyKeysAdvice(CoatcheckClient client, BodyWalk walk, Keys source) {
    this.client = client;
    this.walk = walk;
    this.source = source;
  }

  @Override
  public boolean supports(
      MethodParameter returnType, Class<? extends HttpMessageConverter<?>> converterType) {
    return true;
  }

  @Override
  public @Nullable Object beforeBodyWrite(
      @Nullable Object body,
      MethodParameter returnType,
      MediaType contentType,
      Class<? extends HttpMessageConverter<?>> converterType,
      ServerHttpRequest request,
      ServerHttpResponse response) {
    if (body != null
        && isJson(contentType)
        && mayHaveKeys(body)
        && request instanceof ServletServerHttpRequest servlet) {
      BodyKeys keys = new BodyKeys();
      servlet.getServletRequest().setAttribute(BodyKeys.ATTRIBUTE, keys);
      try {
        JsonView view = returnType.getMethodAnnotation(JsonView.class);
        walk.walk(body, view == null ? null : view.value()[0]);
        keys.complete(texts(keys.collected()));
      } catch (RuntimeException | Error failed) {
        // What is written about the failure must not have the keys as they are in the database.
        servlet.getServletRequest().removeAttribute(BodyKeys.ATTRIBUTE);
        throw failed;
      }
    }
    return body;
  }

  private static boolean isJson(MediaType type) {
    return type.getSubtype().equals("json") || type.getSubtype().endsWith("+json");
  }

  private static boolean mayHaveKeys(Object body) {
    return !(body instanceof CharSequence
        || body instanceof byte[]
        || body instanceof Resource
        || body instanceof ProblemDetail
        || body instanceof Iterator<?> // can be written only once, as a stream
        || body instanceof BaseStream<?, ?>);
  }

  /** To be minted are only keys without a public ID: the gateway refuses to mint ended ones. */
  private Map<Key<?>, String> texts(Set<Key<?>> keys) {
    Collector collector = client.collector();
    Map<Key<?>, Pending<? extends Resolution<?>>> pending = new LinkedHashMap<>();
    keys.forEach(key -> pending.put(key, collector.lookup(key)));
    Map<Key<?>, String> texts = new HashMap<>();
    Map<Class<?>, List<Key<?>>> unknown = new LinkedHashMap<>();
    pending.forEach(
        (key, answer) -> {
          Resolution<?> found = answer.get();
          if (source == Keys.MINT && found instanceof Resolution.Unknown<?>) {
            unknown.computeIfAbsent(key.type(), type -> new ArrayList<>()).add(key);
          } else {
            texts.put(key, text(key, found));
          }
        });
    unknown.values().forEach(some -> mint(some, texts));
    return texts;
  }

  /** A revoked public ID is still the name of its row. */
  private static String text(Key<?> key, Resolution<?> found) {
    if (found instanceof Resolution.Revoked<?> revoked && revoked.id().isPresent()) {
      return revoked.id().get().toString();
    }
    if (found instanceof Resolution.Refused<?> refused) {
      throw refused(key, "looked up", refused.problem());
    }
    return found
        .current()
        .map(Object::toString)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "A key of "
                        + key.type().getName()
                        + " has no public ID ("
                        + found.getClass().getSimpleName()
                        + "). Mint it when the row is made, or set coatcheck.keys=mint."));
  }

  @SuppressWarnings("unchecked") // all keys of the list are of one type
  private <T> void mint(List<Key<?>> keys, Map<Key<?>, String> texts) {
    List<MintRequest<T>> requests = keys.stream().map(key -> MintRequest.of((Key<T>) key)).toList();
    List<MintResult<T>> results = client.mintAll(requests);
    for (int i = 0; i < keys.size(); i++) {
      if (results.get(i) instanceof MintResult.Minted<T> minted) {
        texts.put(keys.get(i), minted.mapping().id().toString());
      } else {
        throw refused(keys.get(i), "minted", ((MintResult.Refused<T>) results.get(i)).problem());
      }
    }
  }

  /** One item of a batch: as temporary as a call that is refused. */
  private static RuntimeException refused(Key<?> key, String verb, Problem problem) {
    return problem.isTemporary()
        ? Problems.unavailable(problem)
        : new IllegalStateException(
            "A key of " + key.type().getName() + " could not be " + verb + ": " + problem.detail());
  }
}

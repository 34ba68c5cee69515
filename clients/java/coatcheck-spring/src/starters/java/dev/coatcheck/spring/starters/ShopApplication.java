package dev.coatcheck.spring.starters;

import com.fasterxml.jackson.annotation.JsonView;
import dev.coatcheck.client.CallListener;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** An application with one dependency on Coatcheck. */
@SpringBootApplication
class ShopApplication {
  /** The operations that the client called. */
  static final List<String> CALLS = new CopyOnWriteArrayList<>();

  @PublicIdType(prefix = "spch", name = "spring_charge")
  record Charge() {}

  record Text(String id) {}

  record Row(Key<Charge> id, long cents) {}

  interface Summary {}

  interface Detail extends Summary {}

  record Viewed(
      @JsonView(Summary.class) Key<Charge> id, @JsonView(Detail.class) Key<Charge> hidden) {}

  record Refund(PublicId<Charge> charge, long cents) {}

  @Bean
  CallListener calls() {
    return (operation, status, tries, took) -> CALLS.add(operation);
  }

  @RestController
  static class Charges {
    @GetMapping("/charges/{id}")
    Text charge(PublicId<Charge> id) {
      return new Text(id.toString());
    }

    @GetMapping("/annotated/{id}")
    Text annotated(@PathVariable PublicId<Charge> id, @RequestParam PublicId<Charge> other) {
      return new Text(id + " " + other);
    }

    @GetMapping("/search")
    Text search(PublicId<Charge> id) {
      return new Text(id.toString());
    }

    @GetMapping("/rows/{id}")
    Row row(Key<Charge> id) {
      return new Row(id, ((Key.OfLong<Charge>) id).value());
    }

    @JsonView(Summary.class)
    @GetMapping("/viewed")
    Viewed viewed(@RequestParam long id, @RequestParam long hidden) {
      return new Viewed(Key.of(Charge.class, id), Key.of(Charge.class, hidden));
    }

    @GetMapping("/rows")
    List<Row> rows(@RequestParam long first, @RequestParam int count) {
      return LongStream.range(first, first + count)
          .mapToObj(key -> new Row(Key.of(Charge.class, key), key))
          .toList();
    }

    @PostMapping("/refunds")
    Refund refund(@RequestBody Refund refund) {
      return refund;
    }
  }

  /** Bodies that can be written only once, and an answer about a body that could not be written. */
  @RestController
  static class Bodies {
    @GetMapping("/iterator")
    Iterator<Long> iterator() {
      return List.of(1L, 2L).iterator();
    }

    @GetMapping("/stream")
    Stream<Long> stream() {
      return Stream.of(1L, 2L);
    }

    @GetMapping("/unwritable")
    List<Object> unwritable() {
      return List.of(new Unwritable());
    }

    @ExceptionHandler
    ResponseEntity<String> failed(Exception failed) {
      return ResponseEntity.status(500)
          .body(
              RequestContextHolder.currentRequestAttributes()
                      .getAttribute(
                          "dev.coatcheck.spring.BodyKeys", RequestAttributes.SCOPE_REQUEST)
                  + "");
    }
  }

  /** Can't be written as JSON. */
  static class Unwritable {
    public String getText() {
      throw new IllegalStateException("not to be written");
    }
  }
}

package shop;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.Mapping;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.spring.PublicIds;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.UriComponentsBuilder;

/** Public IDs come in and go out; what is between them is keys. */
@RestController
class ShopController {
  private static final int PAGE = 500;

  private final CoatcheckClient coatcheck;
  private final PublicIds ids;
  private final Customers customers;
  private final Charges charges;

  ShopController(CoatcheckClient coatcheck, PublicIds ids, Customers customers, Charges charges) {
    this.coatcheck = coatcheck;
    this.ids = ids;
    this.customers = customers;
    this.charges = charges;
  }

  record NewCustomer(String name) {}

  record NewCharge(PublicId<Customer> customer, long cents) {}

  /** What others see; each key becomes its public ID, all of an answer in one call. */
  record ChargeView(Key<Charge> id, Key<Customer> customer, long cents) {
    static ChargeView of(Charge charge) {
      return new ChargeView(charge.getId(), charge.getCustomer(), charge.getCents());
    }
  }

  record Created(PublicId<?> id) {}

  @PostMapping("/customers")
  ResponseEntity<Created> create(@RequestBody NewCustomer request, UriComponentsBuilder here) {
    Mapping<Customer> minted = coatcheck.mint(Customer.class).mapping();
    customers.save(new Customer(minted.key(), request.name()));
    return created(minted, here.path("/customers/{id}"));
  }

  @PostMapping("/charges")
  ResponseEntity<Created> create(@RequestBody NewCharge request, UriComponentsBuilder here) {
    Key<Customer> customer = ids.key(request.customer());
    Mapping<Charge> minted = coatcheck.mint(Charge.class).mapping();
    charges.save(new Charge(minted.key(), customer, request.cents()));
    return created(minted, here.path("/charges/{id}"));
  }

  /** A typo is 400, a public ID of another type too, an unknown one 404, a revoked one 410. */
  @GetMapping("/charges/{id}")
  ResponseEntity<ChargeView> charge(Key<Charge> id) {
    return ResponseEntity.of(charges.findById(id).map(ChargeView::of));
  }

  @GetMapping("/charges")
  List<ChargeView> charges(@RequestParam Key<Customer> customer) {
    return charges.findByCustomerOrderByIdDesc(customer, Limit.of(PAGE)).stream()
        .map(ChargeView::of)
        .toList();
  }

  private static ResponseEntity<Created> created(Mapping<?> minted, UriComponentsBuilder path) {
    return ResponseEntity.created(path.build(minted.id())).body(new Created(minted.id()));
  }
}

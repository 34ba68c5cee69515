package shop;

import dev.coatcheck.hibernate.KeyType;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicIdType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
@PublicIdType(prefix = "shc", name = "shop_charge")
public class Charge {
  @Id @KeyType private Key<Charge> id;
  @KeyType private Key<Customer> customer;
  private long cents;

  protected Charge() {}

  Charge(Key<Charge> id, Key<Customer> customer, long cents) {
    this.id = id;
    this.customer = customer;
    this.cents = cents;
  }

  public Key<Charge> getId() {
    return id;
  }

  public Key<Customer> getCustomer() {
    return customer;
  }

  public long getCents() {
    return cents;
  }
}

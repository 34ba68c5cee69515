package shop;

import dev.coatcheck.hibernate.KeyType;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicIdType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
@PublicIdType(prefix = "cus", name = "customer")
public class Customer {
  @Id @KeyType private Key<Customer> id;
  private String name;

  protected Customer() {}

  Customer(Key<Customer> id, String name) {
    this.id = id;
    this.name = name;
  }

  public Key<Customer> getId() {
    return id;
  }

  public String getName() {
    return name;
  }
}

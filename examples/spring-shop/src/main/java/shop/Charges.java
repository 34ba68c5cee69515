package shop;

import dev.coatcheck.id.Key;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.JpaRepository;

interface Charges extends JpaRepository<Charge, Key<Charge>> {
  List<Charge> findByCustomerOrderByIdDesc(Key<Customer> customer, Limit limit);
}

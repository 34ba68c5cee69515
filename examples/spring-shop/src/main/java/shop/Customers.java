package shop;

import dev.coatcheck.id.Key;
import org.springframework.data.jpa.repository.JpaRepository;

interface Customers extends JpaRepository<Customer, Key<Customer>> {}

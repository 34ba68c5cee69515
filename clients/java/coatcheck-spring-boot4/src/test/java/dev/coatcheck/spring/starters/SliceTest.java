package dev.coatcheck.spring.starters;

import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;

@WebMvcTest(ShopApplication.Charges.class)
@Import(SliceTests.Gateway.class)
class SliceTest extends SliceTests {}

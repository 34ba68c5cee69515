package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintRequest;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BucketInSqlTest {
  @Test
  void postgresComputesTheSameBucketsAsTheGateway() {
    try (MappingFixture fixture = new MappingFixture()) {
      List<MintRequest> requests =
          LongStream.of(0, 1, 42, 514718408130953216L, Long.MAX_VALUE)
              .mapToObj(fixture::request)
              .toList();
      fixture.minter.mint(MintCall.batch(requests));
      fixture.mint(
          fixture.generated(fixture.user),
          new MintRequest(
              fixture.user,
              Optional.of(
                  new Key.Uuid(
                      java.util.UUID.fromString("ffffffff-ffff-7fff-bfff-ffffffffffff")))));

      for (String table : List.of("public_id", "public_id_uuid")) {
        List<Boolean> equal =
            fixture.database.read(
                "buckets",
                sql ->
                    sql.fetch(
                            """
                            select p.bucket = coatcheck.bucket_of_key(t.salt, p.key)
                               and p.bucket = (get_byte(uuid_send(p.token), 14) & 3) * 256
                                            + get_byte(uuid_send(p.token), 15)
                            from coatcheck.%s p join coatcheck.type t using (type_id)
                            """
                                .formatted(table))
                        .getValues(0, Boolean.class));

        assertThat(equal).isNotEmpty().containsOnly(true);
      }
    }
  }
}

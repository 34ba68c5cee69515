package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules know each form that a Citus of three nodes refused. */
class CitusRulesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "select f.key from unnest($1, $2) as w (bucket, token) left join lateral (select * from"
            + " coatcheck.public_id where bucket = w.bucket and token = w.token limit $3) as f on"
            + " true",
        "select held.token from coatcheck.public_id as held join unnest($1, $2) as w (bucket,"
            + " token) using (bucket, token) for update of held skip locked",
        "copy (select m.key from coatcheck.public_id m left join coatcheck.alias a on a.token ="
            + " m.token) to stdout",
        "update coatcheck.public_id as row set status = e.status from unnest($1, $2) as e (bucket,"
            + " token) where row.bucket = e.bucket and row.token = e.token",
        "insert into coatcheck.alias (bucket, token) select * from unnest($1, $2)",
        "select from coatcheck.public_id where key = $1 for share",
        "delete from coatcheck.alias where token = $1 returning value"
      })
  void aRefusedFormIsNamed(String statement) {
    assertThat(CitusRules.refusal(statement)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select f.key from unnest($1, $2) as w (bucket, token) left join lateral (select * from"
            + " coatcheck.public_id where bucket = w.bucket and bucket = any($3) limit $4) as f on"
            + " true",
        "select f.status from unnest(cast($1 as uuid[])) as w (digest) cross join lateral (select *"
            + " from coatcheck.idempotency_1 where bucket = any(cast($2 as smallint[])) limit $3)"
            + " as f",
        "select status = $4 from coatcheck.public_id where bucket = $1 and token = $2 for share",
        "insert into coatcheck.alias (bucket, token) values ($1, $2), ($3, $4) on conflict do"
            + " nothing",
        "select key from coatcheck.public_id where type_id = $1 order by key limit $2",
        "update coatcheck.ending as e set survivor = m.t from unnest($1, $2) as m (a, t)"
      })
  void aFormThatCitusTakesIsNot(String statement) {
    assertThat(CitusRules.refusal(statement)).isEmpty();
  }
}

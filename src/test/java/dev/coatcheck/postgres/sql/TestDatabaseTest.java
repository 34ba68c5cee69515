package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class TestDatabaseTest {
  @Test
  void freshDatabasesHaveTheSchemaAndShareNothing() throws SQLException {
    Query one = Query.on(TestDatabase.fresh());
    Query two = Query.on(TestDatabase.fresh());
    one.execute("create table coatcheck.only_here (n integer)");
    assertThat(one.text("select to_regclass('coatcheck.only_here')")).isNotNull();
    assertThat(two.text("select to_regclass('coatcheck.only_here')")).isNull();
    assertThat(two.text("select to_regclass('coatcheck.type')")).isNotNull();
  }

  @Test
  void emptyDatabaseHasNoSchema() throws SQLException {
    Query empty = Query.on(TestDatabase.empty());
    assertThat(empty.text("select to_regnamespace('coatcheck')")).isNull();
  }

  @Test
  void sessionsDoNotRunInUtc() throws SQLException {
    assertThat(Query.on(TestDatabase.empty()).text("show timezone")).isEqualTo("Asia/Kathmandu");
  }
}

package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TestDatabaseTest {
  @Test
  void freshDatabasesHaveTheSchemaAndShareNothing() {
    TestSql one = TestSql.on(TestDatabase.fresh());
    TestSql two = TestSql.on(TestDatabase.fresh());
    one.execute("create table coatcheck.only_here (n integer)");
    assertThat(one.text("select to_regclass('coatcheck.only_here')")).isNotNull();
    assertThat(two.text("select to_regclass('coatcheck.only_here')")).isNull();
    assertThat(two.text("select to_regclass('coatcheck.type')")).isNotNull();
  }

  @Test
  void emptyDatabaseHasNoSchema() {
    TestSql empty = TestSql.on(TestDatabase.empty());
    assertThat(empty.text("select to_regnamespace('coatcheck')")).isNull();
  }

  @Test
  void sessionsDoNotRunInUtc() {
    assertThat(TestSql.on(TestDatabase.empty()).text("show timezone")).isEqualTo("Asia/Kathmandu");
  }
}

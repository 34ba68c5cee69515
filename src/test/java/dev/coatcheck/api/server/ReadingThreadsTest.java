package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.server.ReadingThreads.Resumable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReadingThreadsTest {
  private final ReadingThreads threads = new ReadingThreads(4, 1);
  private final CountDownLatch read = new CountDownLatch(1);

  @BeforeEach
  void start() throws Exception {
    threads.start();
  }

  @AfterEach
  void stop() throws Exception {
    threads.stop();
  }

  private Resumable connection(boolean canAwait) {
    return new Resumable() {
      @Override
      public boolean awaitNext() {
        return canAwait;
      }

      @Override
      public void run() {
        read.countDown();
      }
    };
  }

  @Test
  void aConnectionThatAwaitsItsNextRequestTakesNoThread() throws Exception {
    threads.execute(connection(true));
    CountDownLatch after = new CountDownLatch(1);
    threads.execute(after::countDown);

    assertThat(after.await(1, TimeUnit.MINUTES)).isTrue();
    threads.stop();
    assertThat(read.getCount()).isOne();
  }

  @Test
  void aConnectionThatHasReadMoreIsServedByAThread() throws Exception {
    threads.execute(connection(false));

    assertThat(read.await(1, TimeUnit.MINUTES)).isTrue();
  }
}

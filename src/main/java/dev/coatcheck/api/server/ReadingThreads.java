package dev.coatcheck.api.server;

import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * The threads that accept connections and read requests.
 *
 * <p>After an asynchronous response Jetty dispatches a thread of the pool to read again at once,
 * before the client can have sent anything. Here the connection registers its interest in the next
 * request instead.
 */
final class ReadingThreads extends QueuedThreadPool {
  /** A connection whose request was answered. */
  interface Resumable extends Runnable {
    /** Waits for the next request if none of it has been read; false if it has. */
    boolean awaitNext();
  }

  ReadingThreads(int threadsMax, int threadsMin) {
    super(threadsMax, threadsMin);
  }

  @Override
  public void execute(Runnable task) {
    if (!(task instanceof Resumable connection && connection.awaitNext())) {
      super.execute(task);
    }
  }
}

package dev.coatcheck.api.server;

import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * The threads that accept connections and read requests.
 *
 * <p>Where an answer was sent by another thread than the one that read the request, Jetty has a
 * thread of the pool try to read the next request at once, and wait for it only after that. The
 * client has hardly seen the answer then. Here the connection waits for its next request at once.
 */
final class ReadingThreads extends QueuedThreadPool {
  /** A connection whose request was answered. */
  interface Resumable extends Runnable {
    /** Waits for the next request, if nothing of it was read; false if it can't. */
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

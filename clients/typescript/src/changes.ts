import type { Transport } from './transport.js';

/** From the begin of a request to the end of the trust in what it said. */
const TRUST_MILLIS = 1_900;
/** How old an answer of a gateway may be, with some time to spare. */
const STALE_MILLIS_MAX = 120_000;
/** An answer that came later than this after its question isn't kept. */
const ANSWER_MILLIS_MAX = 30_000;
const REMEMBERED_MILLIS = STALE_MILLIS_MAX + ANSWER_MILLIS_MAX;
const REMEMBERED_MAX = 200_000;
/** How long an answer is served: less than a change is remembered. */
const AGE_MILLIS_MAX = 100_000;
/** Heads come twice a second. */
const SILENCE_MILLIS_MAX = 5_000;
/** Then another request measures the time anew. */
const STREAM_MILLIS_MAX = 600_000;
/** Another request may help if the heads of this one vouch for nothing. */
const USELESS_MILLIS_MAX = 30_000;
const PAUSE_MILLIS = 1_000;
const GONE = 410;

/** When a request was sent, by both clocks. */
interface Asked {
  readonly at: number;
  readonly date: number;
}

interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * What ended and changed at the gateway, as `GET /v1/changes` tells it, and how far answers that are kept may be
 * trusted.
 *
 * Why no ended public ID is served for more than 2 s: a head vouches for a moment at the gateway, given as a time after
 * the request arrived, and this client knows when it sent the request, which was before; so trust ends 1.9 s after a
 * moment that lies before the one at the gateway, however late the head comes. Where the machine was suspended, the
 * monotonic clock stood still, so trust ends by the wall clock too, and both are read before the request is sent. The
 * clocks of two machines drift apart, so no request is listened to for long. A gateway may answer with what it knew up
 * to 90 s before, so an answer isn't kept while a change that concerns it is remembered, which is longer.
 */
export class FollowedChanges {
  readonly #transport: Transport;
  /** When a public ID ended, or the type of a prefix changed. */
  readonly #changed = new Map<string, number>();
  readonly #end = new AbortController();
  #attempt = new AbortController();
  #after: string | undefined;
  #types: string | undefined;
  #trustedUntil = -Infinity;
  #trustedUntilDate = -Infinity;
  /** Answers to earlier questions may be out of date without a change that says so. */
  #reliableFrom = now() + STALE_MILLIS_MAX;
  #heardAt = now();

  constructor(transport: Transport) {
    this.#transport = transport;
    void this.#run();
  }

  /** Whether all changes are known that are at least 1.9 s old. */
  get isTrusted(): boolean {
    if (!this.#isOver) {
      return true;
    }
    if (now() - this.#heardAt > SILENCE_MILLIS_MAX) {
      this.#heardAt = now();
      this.#attempt.abort(); // a network that fell silent
    }
    return false;
  }

  /** Whether an answer to a question that was sent at `askedAt` may be served at a trusted time. */
  vouchesFor(askedAt: number, id: string): boolean {
    return now() - askedAt <= AGE_MILLIS_MAX && askedAt >= this.#reliableFrom && !this.#isChanged(id);
  }

  /** Whether an answer that just came may be kept. */
  mayKeep(askedAt: number, id: string): boolean {
    return now() - askedAt <= ANSWER_MILLIS_MAX && !this.#isChanged(id);
  }

  /** Notes a change that this client made, before the gateway tells of it. */
  note(subject: string): void {
    this.#changed.delete(subject); // so that they stay in the order of their times
    this.#changed.set(subject, now());
    this.#purge(); // also while no stream brings heads
  }

  close(): void {
    this.#end.abort();
    this.#attempt.abort();
  }

  #isChanged(id: string): boolean {
    return (
      this.#changed.size > 0 && (this.#changed.has(id) || this.#changed.has(id.slice(0, id.lastIndexOf('_'))))
    );
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      try {
        await this.#follow();
      } catch {
        // The trust ends by itself.
      }
      if (!this.#end.signal.aborted) {
        await pause(PAUSE_MILLIS / 2 + Math.random() * PAUSE_MILLIS);
      }
    }
  }

  async #follow(): Promise<void> {
    const asked = { at: now(), date: Date.now() };
    this.#heardAt = asked.at;
    this.#attempt = new AbortController();
    const path = this.#after === undefined ? '/v1/changes' : `/v1/changes?after=${this.#after}`;
    const response = await this.#transport.open(path, 'text/event-stream', this.#attempt.signal);
    if (response.status === GONE) {
      this.#after = undefined;
    }
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return;
    }
    try {
      for await (const event of events(response.body, () => (this.#heardAt = now()))) {
        if (!this.#hear(event, asked)) {
          return;
        }
      }
    } finally {
      this.#attempt.abort();
    }
  }

  /** Whether to listen on. */
  #hear({ id, event, data }: ServerEvent, asked: Asked): boolean {
    const fields = JSON.parse(data) as Record<string, unknown>;
    if (event === 'start' && !this.#begin(fields)) {
      return false;
    }
    this.#after = id;
    if (event === 'head') {
      return this.#trust(asked, Number(fields['as_of_millis']));
    }
    if (event === 'ending') {
      this.note(String(fields['id']));
    } else if (event === 'type') {
      this.note(String(fields['prefix']));
    }
    return true;
  }

  /** Who sees other types than before misses changes of those, and begins anew. */
  #begin(start: Record<string, unknown>): boolean {
    const types = JSON.stringify(start['types']);
    if (this.#after === undefined) {
      this.#types = types;
      this.#reliableFrom = now() - Number(start['known_millis']) + STALE_MILLIS_MAX;
    } else if (types !== this.#types) {
      this.#after = undefined;
      this.#forgetAll();
      return false;
    }
    return true;
  }

  /** Whether the time of the request is still a good measure. */
  #trust(asked: Asked, asOfMillis: number): boolean {
    this.#trustedUntil = asked.at + asOfMillis + TRUST_MILLIS;
    this.#trustedUntilDate = asked.date + asOfMillis + TRUST_MILLIS;
    this.#purge();
    return now() - asked.at <= (this.#isOver ? USELESS_MILLIS_MAX : STREAM_MILLIS_MAX);
  }

  get #isOver(): boolean {
    return now() > this.#trustedUntil || Date.now() > this.#trustedUntilDate;
  }

  #purge(): void {
    for (const [subject, at] of this.#changed) {
      if (now() - at <= REMEMBERED_MILLIS) {
        break;
      }
      this.#changed.delete(subject);
    }
    if (this.#changed.size > REMEMBERED_MAX) {
      this.#forgetAll();
    }
  }

  #forgetAll(): void {
    this.#reliableFrom = now() + STALE_MILLIS_MAX;
    this.#changed.clear();
  }
}

export function now(): number {
  return performance.now();
}

async function* events(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let event: ServerEvent = { id: '', event: '', data: '' };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    heard();
    text += decoder.decode(value, { stream: true });
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (event.data !== '') {
          yield event;
        }
        event = { id: '', event: '', data: '' };
      } else {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon);
        if (name === 'id' || name === 'event' || name === 'data') {
          event[name] = line.slice(colon + 1).trim();
        }
      }
    }
  }
}

/** Doesn't keep a process alive that has nothing else to do. */
function pause(millis: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis) as { unref?: () => void };
    timer.unref?.();
  });
}

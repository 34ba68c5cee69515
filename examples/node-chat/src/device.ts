import type { Draft } from './server.js';

const TRIES = 3;

/** A phone or a browser: it writes without a network, and sends when there is one. */
export class Device {
  /** What the chat refused for good, such as a message for a channel that ended. It holds nothing else up. */
  readonly refused: Draft[] = [];
  readonly #outbox: { readonly channel: string; readonly draft: Draft }[] = [];
  readonly #author: string;
  readonly #clock: () => number;
  readonly #answerMillisMax: number;
  #sending: Promise<string[]> | undefined;

  /**
   * @param clock in milliseconds since 1970; it may be wrong
   * @param answerMillisMax how long a try may take; a network that falls silent says nothing
   */
  constructor(author: string, clock: () => number = Date.now, answerMillisMax = 10_000) {
    this.#author = author;
    this.#clock = clock;
    this.#answerMillisMax = answerMillisMax;
  }

  /** Keeps a message. Its client ID is made here, once, and is the same at each try. */
  write(channel: string, text: string): void {
    this.#outbox.push({ channel, draft: { clientId: uuidV7(this.#clock()), author: this.#author, text } });
  }

  /**
   * Sends what was written, in order, each up to three times; what was not acknowledged stays for the next time. While
   * it sends, a second call waits for the first one: two would send each message twice, and drop the one after it.
   */
  send(chat: string): Promise<string[]> {
    this.#sending ??= this.#sendAll(chat).finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #sendAll(chat: string): Promise<string[]> {
    const sent: string[] = [];
    for (let next = this.#outbox[0]; next !== undefined; next = this.#outbox[0]) {
      const id = await this.#post(`${chat}/channels/${next.channel}/messages`, next.draft);
      this.#outbox.shift();
      if (id === undefined) {
        this.refused.push(next.draft);
      } else {
        sent.push(id);
      }
    }
    return sent;
  }

  /** The public ID of the message, or undefined if it was refused for good. */
  async #post(url: string, draft: Draft): Promise<string | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(draft),
          signal: AbortSignal.timeout(this.#answerMillisMax),
        });
        if (answer.ok) {
          return ((await answer.json()) as { id: string }).id;
        }
        if (answer.status < 500 && answer.status !== 408 && answer.status !== 429) {
          return undefined;
        }
        throw new Error(`The chat answered ${answer.status}.`);
      } catch (error) {
        if (attempt === TRIES) {
          throw error;
        }
      }
    }
  }
}

/** A UUID of version 7: 48 bits of time in milliseconds, the rest random. */
export function uuidV7(millis: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint32(0, Math.floor(millis / 2 ** 16));
  new DataView(bytes.buffer).setUint16(4, millis % 2 ** 16);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

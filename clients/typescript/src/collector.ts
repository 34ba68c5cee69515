import type { Coatcheck } from './client.js';
import { type Key, keyText } from './key.js';
import type { Failed, LookedUp, Resolved } from './outcomes.js';
import type { PublicId, PublicIdType } from './public-id.js';
import type { CallOptions } from './transport.js';

/**
 * Turns the single questions of one request of yours into few calls: what is asked until the event loop comes round is
 * one batch, and the same question is asked once. `await Promise.all(rows.map(row => ids.publicId(charge, row.id)))`
 * is one call for 500 rows.
 *
 * Make one for each request and drop it with it: it remembers its answers, so it is no cache between requests.
 */
export class Collector {
  readonly #lookups: Questions<LookedUp>;
  readonly #resolves: Questions<Resolved>;

  constructor(client: Coatcheck, options: CallOptions) {
    this.#lookups = new Questions((type, keys) => client.lookupAll(type, keys, options));
    this.#resolves = new Questions((type, texts) => client.resolveAll(type, texts, options));
  }

  /** Which public ID a key has. */
  async lookup<T extends string>(type: PublicIdType<T>, key: Key): Promise<LookedUp<T>> {
    return this.#lookups.ask(type, keyText(key)) as Promise<LookedUp<T>>;
  }

  /** The text to print for a key: undefined if it has no public ID, or one that was revoked. */
  async publicId<T extends string>(type: PublicIdType<T>, key: Key): Promise<PublicId<T> | undefined> {
    const answer = await this.lookup(type, key);
    return answer.outcome === 'found' || answer.outcome === 'merged' ? answer.id : undefined;
  }

  /** What a public ID stands for. */
  resolve<T extends string>(type: PublicIdType<T>, text: string): Promise<Resolved<T>> {
    return this.#resolves.ask(type, text) as Promise<Resolved<T>>;
  }
}

type Ask<R> = (type: PublicIdType<string>, items: readonly string[]) => Promise<(R | Failed)[]>;

interface Waiting<R> {
  readonly item: string;
  readonly resolve: (answer: R) => void;
  readonly reject: (error: unknown) => void;
}

/** Questions of one kind: those that wait, and the answers to all that were asked. */
class Questions<R> {
  readonly #ask: Ask<R>;
  readonly #answers = new Map<string, Map<string, Promise<R>>>();
  #waiting = new Map<PublicIdType<string>, Waiting<R>[]>();

  constructor(ask: Ask<R>) {
    this.#ask = ask;
  }

  ask<T extends string>(type: PublicIdType<T>, item: string): Promise<R> {
    const answers = this.#answers.get(type.name) ?? new Map<string, Promise<R>>();
    this.#answers.set(type.name, answers);
    const known = answers.get(item);
    if (known !== undefined) {
      return known;
    }
    const answer = new Promise<R>((resolve, reject) => {
      this.#wait(type, { item, resolve, reject });
    });
    answers.set(item, answer);
    // A failure is no answer: who asks again asks the gateway.
    answer.catch(() => answers.delete(item));
    return answer;
  }

  #wait<T extends string>(type: PublicIdType<T>, waiting: Waiting<R>): void {
    if (this.#waiting.size === 0) {
      soon(() => this.#send());
    }
    const others = this.#waiting.get(type);
    if (others === undefined) {
      this.#waiting.set(type, [waiting]);
    } else {
      others.push(waiting);
    }
  }

  #send(): void {
    const batches = this.#waiting;
    this.#waiting = new Map();
    for (const [type, waiting] of batches) {
      this.#ask(type, waiting.map(({ item }) => item)).then(
        (answers) =>
          answers.forEach((answer, index) => {
            if (isFailed(answer)) {
              waiting[index]?.reject(answer.error);
            } else {
              waiting[index]?.resolve(answer);
            }
          }),
        (error: unknown) => waiting.forEach(({ reject }) => reject(error)),
      );
    }
  }
}

function isFailed(answer: unknown): answer is Failed {
  return (answer as Failed).outcome === 'failed';
}

/** After all that can run now has run, so that what it asks is in the same batch. */
function soon(work: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => void };
  (setImmediate ?? setTimeout)(work);
}

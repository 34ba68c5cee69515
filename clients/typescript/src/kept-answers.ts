import { FollowedChanges, now } from './changes.js';
import type { Transport } from './transport.js';

/** What the cache of a client did since the client was made. */
export interface CacheStatistics {
  /** Questions that were answered without a call. */
  readonly hits: number;
  /** Questions that were asked at the gateway. */
  readonly misses: number;
  /** Whether the client knows all changes that are at least 1.9 s old, so that it may answer from its cache. */
  readonly isTrusted: boolean;
}

interface Kept {
  readonly answer: { readonly id: string };
  readonly askedAt: number;
}

/** Answers that are served again for as long as `FollowedChanges` vouch for them: public IDs in use. */
export class KeptAnswers {
  readonly #changes: FollowedChanges;
  readonly #max: number;
  /** The one that was used last is the last one. */
  readonly #kept = new Map<string, Kept>();
  #hits = 0;
  #misses = 0;

  constructor(transport: Transport, max: number) {
    this.#changes = new FollowedChanges(transport);
    this.#max = max;
  }

  get statistics(): CacheStatistics {
    return { hits: this.#hits, misses: this.#misses, isTrusted: this.#changes.isTrusted };
  }

  /**
   * The kept answers to questions, or those that `ask` gets, in the order of the questions. Of a question that is
   * undefined no answer is kept.
   */
  async answers<R extends { readonly outcome: string }>(
    questions: readonly (string | undefined)[],
    ask: (missing: readonly number[]) => Promise<R[]>,
  ): Promise<R[]> {
    const answers: R[] = [];
    const kept = new Set(questions.keys());
    let missing = this.#missing(questions, kept, answers);
    this.#hits += questions.length - missing.length;
    this.#misses += missing.length;
    while (missing.length > 0) {
      await this.#ask(questions, missing, answers, ask);
      // That may have taken seconds, in which what was found before can have ended.
      missing.forEach((index) => kept.delete(index));
      missing = this.#missing(questions, kept, answers);
    }
    return answers;
  }

  /** Puts the kept answers to some questions; returns those that have none. */
  #missing<R>(questions: readonly (string | undefined)[], some: ReadonlySet<number>, answers: R[]): number[] {
    const isTrusted = this.#changes.isTrusted;
    return [...some].filter((index) => {
      const kept = isTrusted ? this.#find<R>(questions[index]) : undefined;
      if (kept !== undefined) {
        answers[index] = kept;
      }
      return kept === undefined;
    });
  }

  async #ask<R extends { readonly outcome: string }>(
    questions: readonly (string | undefined)[],
    missing: readonly number[],
    answers: R[],
    ask: (missing: readonly number[]) => Promise<R[]>,
  ): Promise<void> {
    const askedAt = now();
    const told = await ask(missing);
    missing.forEach((index, i) => {
      const answer = told[i] as R;
      this.#keep(questions[index], answer, askedAt);
      answers[index] = answer;
    });
  }

  /** Drops a public ID that this client ended. */
  drop(id: string): void {
    this.#changes.note(id);
  }

  close(): void {
    this.#changes.close();
  }

  #find<R>(question: string | undefined): R | undefined {
    const kept = question === undefined ? undefined : this.#kept.get(question);
    if (question === undefined || kept === undefined || !this.#changes.vouchesFor(kept.askedAt, kept.answer.id)) {
      return undefined;
    }
    this.#put(question, kept);
    return kept.answer as R;
  }

  #keep(question: string | undefined, answer: { readonly outcome: string }, askedAt: number): void {
    if (question !== undefined && answer.outcome === 'found') {
      const found = answer as unknown as Kept['answer'];
      if (this.#changes.mayKeep(askedAt, found.id)) {
        this.#put(question, { answer: found, askedAt });
      }
    }
  }

  #put(question: string, kept: Kept): void {
    this.#kept.delete(question);
    this.#kept.set(question, kept);
    if (this.#kept.size > this.#max) {
      const [eldest] = this.#kept.keys();
      this.#kept.delete(eldest as string);
    }
  }
}

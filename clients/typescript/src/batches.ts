import { CoatcheckError } from './error.js';
import type { Entry } from './outcomes.js';

/** The most items that a gateway takes in one request. */
export const ITEMS_MAX = 1_000;
/** Below the 1 MiB of a body, with room for what stands around the items. */
const BYTES_MAX = 1_000_000;
/** One call of many items leaves the gateway room for others. */
const BATCHES_AT_ONCE = 2;

/** Some items of a call, as one request sends them. */
export interface Batch {
  /** The index of the first item in the call. */
  readonly from: number;
  readonly count: number;
  /** A JSON array. */
  readonly items: string;
}

/** Cuts the items of a call into the fewest batches that a gateway takes, in order. */
export function cut(items: readonly unknown[]): Batch[] {
  const utf8 = new TextEncoder();
  const batches: Batch[] = [];
  let some: string[] = [];
  let bytes = 0;
  const close = (end: number): void => {
    if (some.length > 0) {
      batches.push({ from: end - some.length, count: some.length, items: `[${some.join(',')}]` });
    }
    some = [];
    bytes = 0;
  };
  items.forEach((item, index) => {
    const json = JSON.stringify(item);
    const size = utf8.encode(json).length + 1;
    if (some.length === ITEMS_MAX || bytes + size > BYTES_MAX) {
      close(index);
    }
    some.push(json);
    bytes += size;
  });
  close(items.length);
  return batches;
}

/**
 * Sends batches, two at a time, and pairs the entries of their answers with the items of the call. A batch that failed
 * as a whole leaves its error at each of its items, so that what the others did is known; after an error that the next
 * batch would meet too, such as an outage, no other one is sent. Where none was answered, the call fails.
 *
 * @throws CoatcheckError the error of the first batch, if none was answered
 */
export async function paired<R>(
  batches: readonly Batch[],
  send: (batch: Batch, index: number) => Promise<unknown>,
  read: (entry: Entry, index: number) => R,
  failed: (error: CoatcheckError) => R,
  notSent: (because: CoatcheckError, index: number) => R,
): Promise<R[]> {
  const results: R[] = [];
  const errors: CoatcheckError[] = [];
  let next = 0;
  let last: CoatcheckError | undefined;
  const fail = (index: number, error: CoatcheckError, result: R): void => {
    const { from, count } = batches[index] as Batch;
    errors[index] = error;
    for (let i = from; i < from + count; i++) {
      results[i] = result;
    }
  };
  const work = async (): Promise<void> => {
    for (let index = next++; index < batches.length; index = next++) {
      const batch = batches[index] as Batch;
      if (last !== undefined) {
        fail(index, last, notSent(last, index));
        continue;
      }
      try {
        for (const entry of entriesOf(batch, await send(batch, index))) {
          results[batch.from + entry.index] = read(entry, index);
        }
      } catch (error) {
        if (!(error instanceof CoatcheckError)) {
          throw error;
        }
        fail(index, error, failed(error));
        last ??= isOfAll(error) ? error : undefined;
      }
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, work));
  const first = errors[0];
  if (first !== undefined && batches.every((_, index) => errors[index] !== undefined)) {
    throw first;
  }
  return results;
}

/** Whether the next batch would end in the same way. */
function isOfAll({ status }: CoatcheckError): boolean {
  return [0, 401, 403, 429].includes(status) || status >= 500;
}

/** One entry for each item, or the answer is not to be trusted. */
function entriesOf(batch: Batch, body: unknown): Entry[] {
  const data = (body as { data?: unknown } | undefined)?.data;
  if (Array.isArray(data) && data.length === batch.count) {
    const indexes = new Set(data.map((entry: Partial<Entry>) => entry.index));
    if (Array.from({ length: batch.count }, (_, i) => i).every((i) => indexes.has(i))) {
      return data as Entry[];
    }
  }
  throw new CoatcheckError(200, 'answer_invalid', 'The answer has not one entry for each item of the batch.');
}

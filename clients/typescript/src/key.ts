/** A key of yours: a `bigint` column as text, `bigint` or a number of at most 53 bits, or a UUID as text. */
export type Key = string | bigint | number;

/** @throws RangeError for a number that is no safe integer, as it may have been rounded */
export function keyText(key: Key): string {
  if (typeof key === 'number' && !Number.isSafeInteger(key)) {
    throw new RangeError(`A number of JavaScript holds 53 bits, and ${key} is no such integer. Take texts or bigint.`);
  }
  return String(key);
}

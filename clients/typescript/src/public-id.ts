/**
 * The text of a public ID: `ch_4KIWSf8WvPNoQDBwStVIDYHU` is a prefix, an underscore, 22 characters of
 * base62 (the payload, a 128-bit token) and 2 check characters over all before them.
 *
 * This module asks no gateway and uses nothing but the language, so it runs in browsers too.
 */

declare const brand: unique symbol;

/** The text of a public ID of the type `T`. Only a check makes it, so another type's is a compile error. */
export type PublicId<T extends string = string> = string & { readonly [brand]: T };

/**
 * Why a text is no public ID: it is cut off or too long, has a character that no public ID has, a token of
 * more than 128 bits, or check characters that don't match (a typo), or begins with no prefix.
 */
export type MalformedReason = 'length' | 'alphabet' | 'overflow' | 'check' | 'prefix';

/** A text that is no public ID. */
export interface Malformed {
  readonly outcome: 'malformed';
  readonly reason: MalformedReason;
  /** The UTF-16 unit, from 0, where it went wrong; the length of the text if the text is at fault as a whole. */
  readonly position: number;
}

/** A public ID of another type than was asked for. */
export interface WrongType {
  readonly outcome: 'wrong_type';
  /** The prefix of the text. */
  readonly prefix: string;
}

export interface Valid<T extends string = string> {
  readonly outcome: 'valid';
  readonly id: PublicId<T>;
  readonly prefix: string;
}

/** A text that `PublicIdType.of` refused; `reason` is `type` for a public ID of another type. */
export class PublicIdError extends Error {
  override readonly name = 'PublicIdError';
  readonly reason: MalformedReason | 'type';
  readonly position: number;

  constructor(reason: MalformedReason | 'type', position: number) {
    super(`${SENTENCES[reason]} (reason ${reason}, position ${position})`);
    this.reason = reason;
    this.position = position;
  }
}

const SENTENCES: Readonly<Record<MalformedReason | 'type', string>> = {
  length: 'The text is shorter or longer than a public ID.',
  alphabet: 'The text has a character that no public ID has.',
  overflow: 'The token of the public ID has more than 128 bits.',
  check: "The check characters don't match the rest; the public ID was probably mistyped.",
  prefix: 'The text does not begin with a prefix.',
  type: 'The public ID is of another type.',
};

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TEXT_MAX = 64;
const PREFIX_MAX = 32;
const PAYLOAD = 22;
const BODY = PAYLOAD + 2;
/** The payload of 2^128 - 1. Base62 is in the order of ASCII, so payloads compare as texts. */
const PAYLOAD_MAX = '7n42DGM5Tflk9n8mt7Fhc7';
/** The greatest prime below 62 * 62: two characters hold each remainder. */
const MODULUS = 3833;
const TOKEN_BITS = 128n;
const UNDERSCORE = 0x5f;

/** Checks a text of any type, strictly: nothing is trimmed, folded or normalised. */
export function parsePublicId(text: unknown): Valid | Malformed {
  if (typeof text !== 'string') {
    return malformed('length', 0);
  }
  if (text.length === 0 || text.length > TEXT_MAX) {
    return malformed('length', text.length);
  }
  const split = text.lastIndexOf('_');
  if (split < 0) {
    return malformed('prefix', 0);
  }
  const fault = prefixFault(text, split);
  if (fault !== undefined) {
    return malformed('prefix', fault);
  }
  const start = split + 1;
  for (let i = start; i < text.length; i++) {
    if (!isBase62(text.charCodeAt(i))) {
      return malformed('alphabet', i);
    }
  }
  if (text.length - start !== BODY) {
    return malformed('length', text.length);
  }
  const payload = text.slice(start, start + PAYLOAD);
  if (payload > PAYLOAD_MAX) {
    let i = 0;
    while (payload[i] === PAYLOAD_MAX[i]) {
      i++;
    }
    return malformed('overflow', start + i);
  }
  const checked = start + PAYLOAD;
  if (!text.endsWith(checkCharacters(text, checked))) {
    return malformed('check', checked);
  }
  return { outcome: 'valid', id: text as PublicId, prefix: text.slice(0, split) };
}

/**
 * The public ID of a prefix and a 128-bit token.
 *
 * @throws RangeError for a text that is no prefix, and a token outside of 0 to 2^128 - 1
 */
export function formatPublicId(prefix: string, token: bigint): PublicId {
  requirePrefix(prefix);
  if (token < 0n || token >> TOKEN_BITS !== 0n) {
    throw new RangeError('A token has 128 bits.');
  }
  let payload = '';
  for (let rest = token; payload.length < PAYLOAD; rest /= 62n) {
    payload = ALPHABET.charAt(Number(rest % 62n)) + payload;
  }
  const text = `${prefix}_${payload}`;
  return (text + checkCharacters(text, text.length)) as PublicId;
}

/** The 128-bit token of a public ID. Its lowest ten bits are the bucket. */
export function tokenOf(id: PublicId): bigint {
  const start = id.lastIndexOf('_') + 1;
  let token = 0n;
  for (let i = start; i < start + PAYLOAD; i++) {
    token = token * 62n + BigInt(ALPHABET.indexOf(id.charAt(i)));
  }
  return token;
}

/** A type of public IDs, as it is registered at the gateway: what a text has to be to be one of its IDs. */
export interface PublicIdType<T extends string> {
  /** The registered name, such as `charge`. */
  readonly name: T;
  /** What its public IDs begin with, such as `ch`. */
  readonly prefix: string;
  /** Checks a text, without asking the gateway. */
  parse(text: unknown): Valid<T> | Malformed | WrongType;
  /** Whether the text is a public ID of this type. */
  is(text: unknown): text is PublicId<T>;
  /**
   * The text as a public ID of this type.
   *
   * @throws PublicIdError for any other text
   */
  of(text: unknown): PublicId<T>;
}

/**
 * A type by its name and prefix: `const charge = publicIdType('charge', 'ch')`.
 *
 * @throws RangeError for a text that is no prefix
 */
export function publicIdType<const T extends string>(name: T, prefix: string): PublicIdType<T> {
  requirePrefix(prefix);
  const parse = (text: unknown): Valid<T> | Malformed | WrongType => {
    const parsed = parsePublicId(text);
    if (parsed.outcome === 'malformed') {
      return parsed;
    }
    return parsed.prefix === prefix
      ? { outcome: 'valid', id: parsed.id as PublicId<T>, prefix }
      : { outcome: 'wrong_type', prefix: parsed.prefix };
  };
  return Object.freeze({
    name,
    prefix,
    parse,
    is: (text: unknown): text is PublicId<T> => parse(text).outcome === 'valid',
    of: (text: unknown): PublicId<T> => {
      const parsed = parse(text);
      switch (parsed.outcome) {
        case 'valid':
          return parsed.id;
        case 'malformed':
          throw new PublicIdError(parsed.reason, parsed.position);
        case 'wrong_type':
          throw new PublicIdError('type', 0);
      }
    },
  });
}

function malformed(reason: MalformedReason, position: number): Malformed {
  return { outcome: 'malformed', reason, position };
}

function requirePrefix(prefix: string): void {
  if (prefixFault(prefix, prefix.length) !== undefined) {
    throw new RangeError(`This is no prefix: ${prefix}`);
  }
}

/** The first character before `end` that no prefix has there; `end` where the prefix stops too early. */
function prefixFault(text: string, end: number): number | undefined {
  let before = UNDERSCORE;
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    const isLetter = code >= 0x61 && code <= 0x7a;
    const isDigit = code >= 0x30 && code <= 0x39;
    if (
      i === PREFIX_MAX ||
      !(isLetter || (i > 0 && (isDigit || (code === UNDERSCORE && before !== UNDERSCORE))))
    ) {
      return i;
    }
    before = code;
  }
  return before === UNDERSCORE ? end : undefined;
}

function isBase62(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
  );
}

/** Over the first `length` characters, each weighed by its distance from their end. */
function checkCharacters(text: string, length: number): string {
  let sum = 0;
  for (let i = 0; i < length; i++) {
    sum += (length - i) * text.charCodeAt(i);
  }
  const value = sum % MODULUS;
  return ALPHABET.charAt(Math.floor(value / 62)) + ALPHABET.charAt(value % 62);
}

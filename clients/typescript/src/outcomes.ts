import { CoatcheckError } from './error.js';
import type { Malformed, PublicId, PublicIdType, WrongType } from './public-id.js';

/** A public ID and its key. Keys are texts: a number of JavaScript holds 53 bits, a key 63. */
export interface Mapping<T extends string = string> {
  readonly id: PublicId<T>;
  readonly type: T;
  readonly key: string;
  /** By the gateway's clock, in RFC 3339 with microseconds; a `Date` would cut them off. */
  readonly createdAt: string;
  readonly legacyId?: string;
  readonly clientId?: string;
  readonly clientNamespace?: string;
}

export interface Found<T extends string> extends Mapping<T> {
  readonly outcome: 'found';
}

/** Resolves to its survivor: `key` is the survivor's. A look-up by key has its own key, and doesn't name the survivor. */
export interface Merged<T extends string> extends Mapping<T> {
  readonly outcome: 'merged';
  readonly mergedInto?: PublicId<T>;
}

/** Ended for good. */
export interface Revoked {
  readonly outcome: 'revoked';
  readonly endedAt?: string;
  readonly endedReason?: string;
}

/** Ended for good, and its key and names are forgotten. */
export interface Erased {
  readonly outcome: 'erased';
}

/** The text is well formed, but no such ID was issued; or no public ID has the key or name. */
export interface Unknown {
  readonly outcome: 'unknown';
}

/** An item of a batch that was not answered for what it asks: its `error` says why. */
export interface Failed {
  readonly outcome: 'failed';
  readonly error: CoatcheckError;
  /** Nothing was done: the batch of this item was not sent, as it would have met the `error` of an earlier one. */
  readonly notSent?: true;
}

/** What a public ID stands for. `malformed` and `wrong_type` are found without asking the gateway. */
export type Resolved<T extends string = string> =
  | Found<T>
  | Merged<T>
  | Revoked
  | Erased
  | Unknown
  | Malformed
  | WrongType;

/** Which public ID a key has: of one that was merged, `key` is its own, of one that was revoked there is the ID too. */
export type LookedUp<T extends string = string> =
  | Found<T>
  | Merged<T>
  | (Revoked & Partial<Mapping<T>>)
  | Erased
  | Unknown;

/** Which public ID a legacy ID or another alias has. */
export type Named<T extends string = string> = Found<T> | Merged<T> | Revoked | Erased | Unknown;

/**
 * A mint that was done: `existing` if its key or name already had this public ID. That may be the own doing of a call
 * that was sent again after a lost answer.
 */
export interface Done<T extends string> extends Mapping<T> {
  readonly outcome: 'minted' | 'existing';
}

/**
 * A mint. Nothing was done for `conflict` (another public ID has the name) and `ended` (the public ID of this key or
 * name was revoked, merged or erased, for good).
 */
export type Minted<T extends string = string> =
  | Done<T>
  | { readonly outcome: 'conflict'; readonly error: CoatcheckError }
  | { readonly outcome: 'ended'; readonly error: CoatcheckError };

/** A revocation: `merged` if the public ID was merged before, and so is not revoked. */
export type Revocation =
  | { readonly outcome: 'revoked'; readonly endedAt?: string; readonly endedReason?: string }
  | { readonly outcome: 'merged' }
  | Erased
  | Unknown;

/** The entry of an item in a batch, as it is in an answer. */
export interface Entry {
  readonly index: number;
  readonly status: number;
  readonly public_id?: unknown;
  readonly resolved_url?: unknown;
  readonly error?: unknown;
}

interface PublicIdObject {
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly status: 'active' | 'revoked' | 'merged';
  readonly merged_into?: string;
  readonly created_at: string;
  readonly legacy_id?: string;
  readonly client_id?: string;
  readonly client_namespace?: string;
  readonly ended_at?: string;
  readonly ended_reason?: string;
}

export function found<T extends string>(type: PublicIdType<T>, body: unknown): Found<T> | Merged<T> | WrongType {
  const object = publicIdObject(body);
  if (object.type !== type.name) {
    return { outcome: 'wrong_type', prefix: object.id.slice(0, object.id.lastIndexOf('_')) };
  }
  const mapping = mappingOf<T>(object);
  if (object.status !== 'merged') {
    return { outcome: 'found', ...mapping };
  }
  return object.merged_into === undefined
    ? { outcome: 'merged', ...mapping }
    : { outcome: 'merged', ...mapping, mergedInto: object.merged_into as PublicId<T> };
}

export function resolvedOf<T extends string>(error: CoatcheckError): Resolved<T> | undefined {
  return error.code === 'public_id_malformed'
    ? { outcome: 'malformed', reason: error.reason ?? 'prefix', position: error.position ?? 0 }
    : missing(error);
}

export function lookedUp<T extends string>(type: PublicIdType<T>, body: unknown): LookedUp<T> {
  const object = publicIdObject(body);
  if (object.status === 'revoked') {
    return { outcome: 'revoked', ...mappingOf<T>(object), ...ending(object.ended_at, object.ended_reason) };
  }
  return asNamed(type, found(type, body));
}

/** Of a call that names the type, so that the answer is of no other. */
export function asNamed<T extends string>(
  type: PublicIdType<T>,
  result: Found<T> | Merged<T> | WrongType,
): Found<T> | Merged<T> {
  if (result.outcome === 'wrong_type') {
    throw new CoatcheckError(200, 'answer_invalid', `The answer is not of the type ${type.name}.`);
  }
  return result;
}

/** What an error says of a public ID, a key or a name; undefined where it says something else. */
export function missing(error: CoatcheckError): Revoked | Erased | Unknown | undefined {
  switch (error.code) {
    case 'public_id_unknown':
    case 'key_unknown':
    case 'legacy_id_unknown':
    case 'alias_unknown':
      return { outcome: 'unknown' };
    case 'public_id_revoked':
      return { outcome: 'revoked', ...ending(error.endedAt, error.endedReason) };
    case 'public_id_erased':
      return { outcome: 'erased' };
    default:
      return undefined;
  }
}

export function minted<T extends string>(type: PublicIdType<T>, status: number, body: unknown): Minted<T> {
  const { outcome, ...mapping } = asNamed(type, found(type, body));
  return { ...mapping, outcome: status === 201 ? 'minted' : 'existing' };
}

export function notMinted<T extends string>(error: CoatcheckError): Minted<T> | undefined {
  switch (error.code) {
    case 'alias_conflict':
      return { outcome: 'conflict', error };
    case 'id_ended':
    case 'public_id_erased':
      return { outcome: 'ended', error };
    default:
      return undefined;
  }
}

export function revocation(body: unknown): Revocation {
  const object = publicIdObject(body);
  return { outcome: 'revoked', ...ending(object.ended_at, object.ended_reason) };
}

export function notRevoked(error: CoatcheckError): Revocation | undefined {
  switch (error.code) {
    case 'id_ended':
      return { outcome: 'merged' };
    case 'public_id_unknown':
      return { outcome: 'unknown' };
    case 'public_id_erased':
      return { outcome: 'erased' };
    default:
      return undefined;
  }
}

function publicIdObject(body: unknown): PublicIdObject {
  const object = body as Partial<PublicIdObject> | null | undefined;
  if (
    typeof object?.id !== 'string' ||
    typeof object.type !== 'string' ||
    typeof object.key !== 'string' ||
    typeof object.created_at !== 'string'
  ) {
    throw new CoatcheckError(200, 'answer_invalid', 'The answer has no public ID.');
  }
  return object as PublicIdObject;
}

function mappingOf<T extends string>(object: PublicIdObject): Mapping<T> {
  return {
    id: object.id as PublicId<T>,
    type: object.type as T,
    key: object.key,
    createdAt: object.created_at,
    ...(object.legacy_id === undefined ? {} : { legacyId: object.legacy_id }),
    ...(object.client_id === undefined ? {} : { clientId: object.client_id }),
    ...(object.client_namespace === undefined ? {} : { clientNamespace: object.client_namespace }),
  };
}

function ending(
  endedAt: string | undefined,
  endedReason: string | undefined,
): { endedAt?: string; endedReason?: string } {
  return {
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(endedReason === undefined ? {} : { endedReason }),
  };
}

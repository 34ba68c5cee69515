import { ITEMS_MAX, type Batch, cut, paired } from './batches.js';
import { Collector } from './collector.js';
import { CoatcheckError } from './error.js';
import { type Key, keyText } from './key.js';
import { type CacheStatistics, KeptAnswers } from './kept-answers.js';
import {
  type Done,
  type Entry,
  type Failed,
  type LookedUp,
  type Minted,
  type Named,
  type Resolved,
  type Revocation,
  asNamed,
  found,
  lookedUp,
  minted,
  missing,
  notMinted,
  notRevoked,
  resolvedOf,
  revocation,
} from './outcomes.js';
import type { PublicId, PublicIdType } from './public-id.js';
import { type CallOptions, type Limits, requireIdempotencyKey, Transport, type TransportOptions } from './transport.js';

const TYPE_NOT_ALLOWED = 'type_not_allowed';
/** Percent-encoded. The head of a request has at most 8 KiB, so a longer URL goes in a body. */
const URL_IN_HEAD_MAX = 4_096;
/** By the field of a mint that has a text which no gateway takes. */
const MINT_CODES = {
  key: 'key_malformed',
  legacy_id: 'alias_malformed',
  client_id: 'alias_malformed',
  client_namespace: 'field_invalid',
} as const;

export type AliasScheme = 'legacy' | 'client' | 'public';

/** What a mint brings along. Without all of them the gateway makes a new public ID and a new key. */
export interface Names {
  /** The key of the row, where you make keys. */
  readonly key?: Key | undefined;
  /** The number that the row had before its key. */
  readonly legacyId?: Key | undefined;
  /** A UUID that a client made, perhaps offline: minting it again gives the same public ID. */
  readonly clientId?: string | undefined;
  /** What the client ID is unique in: a channel, a user or a device. A service of many users always sends it. */
  readonly clientNamespace?: string | undefined;
}

export interface CoatcheckOptions extends TransportOptions {
  /**
   * How many answers to keep about public IDs in use, of `resolve`, `resolveAll`, `lookup`, `lookupAll` and collectors.
   * They are served again for up to 100 s. The client then follows `GET /v1/changes` with one connection, so nothing is
   * served 2 s after its end; while it can't, each question is a call again. Left out, nothing is kept.
   */
  readonly cache?: number | undefined;
}

export interface MintOptions extends CallOptions {
  /**
   * Names this call, so that the same call again gets the same answer for 24 hours, from another process too: 1 to 200
   * visible ASCII characters. Left out, a mint without names has a random one for its own retries.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface ResolveOptions extends CallOptions {
  /** Whether texts that are no public IDs are sent too, because the type answers public IDs of an older system. */
  readonly older?: boolean | undefined;
}

/** An ID in a URL, as the gateway found it. */
export interface UrlId {
  readonly id: PublicId;
  readonly type: string;
  readonly key: string;
  readonly status: 'active' | 'merged';
  readonly mergedInto?: PublicId;
  readonly legacyId?: string;
}

/** A URL with keys instead of its IDs. */
export interface ResolvedUrl {
  readonly outcome: 'resolved';
  /** As it was sent. */
  readonly url: string;
  readonly resolved: string;
  /** With public IDs instead of legacy IDs: where to redirect to. Only if the URL has legacy IDs. */
  readonly publicUrl?: string;
  /** In the order of the URL. Check their types: the gateway doesn't know which belongs where. */
  readonly ids: readonly UrlId[];
}

export interface Alias {
  readonly scheme: AliasScheme;
  readonly value: string;
  readonly clientNamespace?: string;
}

export interface KeysRequest {
  readonly scheme: 'snowflake' | 'uuidv7' | 'segment' | 'ulid' | 'ksuid' | 'sno' | 'rocketmq';
  /** 1 to 16,384. */
  readonly count: number;
  /** Of Snowflakes; `default` if left out. */
  readonly layout?: string | undefined;
  /** Of a segment. */
  readonly tag?: string | undefined;
  /** The time that the keys carry instead of the present. */
  readonly at?: Date | undefined;
}

/**
 * A client of a gateway. It keeps no connection of its own beside those of `fetch`, and may be shared by all requests
 * of a process.
 *
 * Calls for one thing reject with a `CoatcheckError` for what they have no outcome for. Calls for many things, named
 * `…All`, take any number of items, which they send in batches of 1,000, and give one result for each item, in its
 * place: look at each `outcome`, as `failed` is one of them. They reject only if nothing was answered.
 */
export class Coatcheck {
  readonly #transport: Transport;
  readonly #kept: KeptAnswers | undefined;

  /** @throws RangeError for a URL that is no gateway's, or a cache for fewer than 1 answer */
  constructor(options: CoatcheckOptions) {
    this.#transport = new Transport(options);
    if (options.cache !== undefined && !(options.cache >= 1)) {
      throw new RangeError('A cache keeps 1 answer or more.');
    }
    this.#kept = options.cache === undefined ? undefined : new KeptAnswers(this.#transport, options.cache);
  }

  /** How the cache does; all zero and not trusted without one. */
  get cacheStatistics(): CacheStatistics {
    return this.#kept?.statistics ?? { hits: 0, misses: 0, isTrusted: false };
  }

  /** Stops to follow changes, if there is a cache: otherwise its connection keeps the process alive. */
  close(): void {
    this.#kept?.close();
  }

  /**
   * Mints a public ID, and its key unless you bring one.
   *
   * @throws RangeError for a number that is no safe integer, or an `idempotencyKey` with other characters; TypeError for a
   *     namespace without client ID
   */
  mint<T extends string>(type: PublicIdType<T>, names?: undefined, options?: MintOptions): Promise<Done<T>>;
  mint<T extends string>(type: PublicIdType<T>, names: Names, options?: MintOptions): Promise<Minted<T>>;
  async mint<T extends string>(
    type: PublicIdType<T>,
    names: Names = {},
    options: MintOptions = {},
  ): Promise<Minted<T>> {
    requireIdempotencyKey(options.idempotencyKey);
    const isFree = !isNamed(names);
    const idempotencyKey = options.idempotencyKey ?? (isFree ? crypto.randomUUID() : undefined);
    try {
      const { status, body } = await this.#transport.call({
        ...limits(options),
        method: 'POST',
        path: '/v1/ids',
        body: JSON.stringify(mintBody(type, names)),
        idempotencyKey,
      });
      return minted(type, status, body);
    } catch (error) {
      return outcomeOf(error, (refusal) => (isFree ? undefined : notMinted<T>(refusal)));
    }
  }

  /**
   * Mints many public IDs. With `atomic`, of 1,000 items at most, all are minted or none.
   *
   * @throws CoatcheckError `batch_refused` of an atomic batch, whose `items` are the bad ones
   */
  async mintAll<T extends string>(
    type: PublicIdType<T>,
    items: readonly Names[],
    options: MintOptions & { readonly atomic?: boolean | undefined } = {},
  ): Promise<(Minted<T> | Failed)[]> {
    requireIdempotencyKey(options.idempotencyKey);
    const isAtomic = options.atomic === true;
    const isRandom = options.idempotencyKey === undefined && !items.every(isNamed);
    const named = isRandom ? crypto.randomUUID() : options.idempotencyKey;
    return withKnown<MintBody, Minted<T> | Failed>(
      items.map((names) => mintBody(type, names)),
      (body) => (isAtomic ? undefined : unsoundMint(body)),
      (sound) => {
        const batches = cut(sound);
        if (isAtomic && batches.length > 1) {
          throw new RangeError(`An atomic batch has ${ITEMS_MAX} items at most.`);
        }
        return this.#entries(
          batches,
          '/v1/ids/batch',
          ({ items: some }) => `{"items":${some}${isAtomic ? ',"atomic":true' : ''}}`,
          limits(options),
          (entry) => minted(type, entry.status, entry.public_id),
          notMinted<T>,
          named,
        );
      },
    );
  }

  /** What a public ID stands for, if it is one of this type. */
  async resolve<T extends string>(
    type: PublicIdType<T>,
    text: unknown,
    options: ResolveOptions = {},
  ): Promise<Resolved<T>> {
    const refused = refusedText(type, text, options);
    if (refused !== undefined) {
      return refused;
    }
    const within = limits(options);
    const ask = async (): Promise<Resolved<T>> => {
      try {
        const { body } = await this.#get(`/v1/ids/${encodeURIComponent(String(text))}`, within);
        return found(type, body);
      } catch (error) {
        return outcomeOf(error, (refusal) => resolvedOf<T>(refusal) ?? malformed(type, text, refusal));
      }
    };
    return this.#known(resolving(type, text), ask);
  }

  /** The same for many texts. */
  async resolveAll<T extends string>(
    type: PublicIdType<T>,
    texts: readonly unknown[],
    options: ResolveOptions = {},
  ): Promise<(Resolved<T> | Failed)[]> {
    const within = limits(options);
    const answers = await withKnown<unknown, Resolved<T> | Failed>(
      texts,
      (text) => refusedText(type, text, options),
      (some) => {
        const asked = some.map(String);
        return this.#knownEach(
          asked.map((text) => resolving(type, text)),
          (missing) =>
            this.#entries<Resolved<T>>(
              cut(missing.map((index) => asked[index])),
              '/v1/ids/resolve',
              ({ items }) => `{"ids":${items}}`,
              within,
              (entry) => found(type, entry.public_id),
              resolvedOf<T>,
            ),
        );
      },
    );
    return answers.map((answer, index) => {
      const isRefused = answer.outcome === 'failed' && answer.error.code === TYPE_NOT_ALLOWED;
      return (isRefused ? malformed(type, texts[index], answer.error) : undefined) ?? answer;
    });
  }

  /** Which public ID a key has. Nothing is minted. */
  async lookup<T extends string>(type: PublicIdType<T>, key: Key, options: CallOptions = {}): Promise<LookedUp<T>> {
    const text = keyText(key);
    const path = `${typePath(type)}/keys/${encoded(text, 'key_malformed', 'key')}`;
    const within = limits(options);
    const ask = async (): Promise<LookedUp<T>> => {
      try {
        const { body } = await this.#get(path, within);
        return lookedUp(type, body);
      } catch (error) {
        return outcomeOf(error, missing);
      }
    };
    return this.#known(`${type.name}#${text}`, ask);
  }

  /** The same for many keys. */
  async lookupAll<T extends string>(
    type: PublicIdType<T>,
    keys: readonly Key[],
    options: CallOptions = {},
  ): Promise<(LookedUp<T> | Failed)[]> {
    const within = limits(options);
    return withKnown<string, LookedUp<T> | Failed>(
      keys.map(keyText),
      (text) => unsound(text, 'key_malformed', 'keys'),
      (texts) =>
        this.#knownEach(
          texts.map((text) => `${type.name}#${text}`),
          (unknown) =>
            this.#entries<LookedUp<T>>(
              cut(unknown.map((index) => texts[index])),
              '/v1/ids/lookup',
              ({ items }) => `{"type":${JSON.stringify(type.name)},"keys":${items}}`,
              within,
              (entry) => lookedUp(type, entry.public_id),
              missing,
            ),
        ),
    );
  }

  /** Which public ID a legacy ID has, after its sunset too. */
  async legacy<T extends string>(type: PublicIdType<T>, legacyId: Key, options: CallOptions = {}): Promise<Named<T>> {
    try {
      const number = encoded(keyText(legacyId), 'legacy_id_malformed', 'n');
      const { body } = await this.#get(`/v1/legacy/${encodeURIComponent(type.name)}/${number}`, limits(options));
      return asNamed(type, found(type, body));
    } catch (error) {
      return outcomeOf(error, missing);
    }
  }

  /** The same for many legacy IDs. */
  async legacyAll<T extends string>(
    type: PublicIdType<T>,
    legacyIds: readonly Key[],
    options: CallOptions = {},
  ): Promise<(Named<T> | Failed)[]> {
    return withKnown<string, Named<T> | Failed>(
      legacyIds.map(keyText),
      (text) => unsound(text, 'legacy_id_malformed', 'legacy_ids'),
      (texts) =>
        this.#entries<Named<T>>(
          cut(texts),
          '/v1/legacy/resolve',
          ({ items }) => `{"type":${JSON.stringify(type.name)},"legacy_ids":${items}}`,
          limits(options),
          (entry) => asNamed(type, found(type, entry.public_id)),
          missing,
        ),
    );
  }

  /** Replaces the IDs of a URL, absolute or path and query, by keys. */
  async resolveUrl(url: string, options: CallOptions = {}): Promise<ResolvedUrl> {
    const text = encoded(url, 'url_invalid', 'url');
    if (text.length > URL_IN_HEAD_MAX) {
      const [result] = await this.resolveUrlAll([url], options);
      if (result?.outcome !== 'resolved') {
        throw result?.error;
      }
      return result;
    }
    return resolvedUrl((await this.#get(`/v1/urls/resolve?url=${text}`, limits(options))).body);
  }

  /** The same for many URLs. */
  async resolveUrlAll(urls: readonly string[], options: CallOptions = {}): Promise<(ResolvedUrl | Failed)[]> {
    return withKnown<string, ResolvedUrl | Failed>(
      urls,
      (url) => unsound(url, 'url_invalid', 'urls'),
      (sound) =>
        this.#entries<ResolvedUrl>(
          cut(sound),
          '/v1/urls/resolve',
          ({ items }) => `{"urls":${items}}`,
          limits(options),
          (entry) => resolvedUrl(entry.resolved_url),
          () => undefined,
        ),
    );
  }

  /**
   * Replaces the keys of a URL by public IDs: `publishUrl('/charges/42', '/charges/{charge}')`.
   *
   * @throws CoatcheckError `key_unknown` for a key without a public ID
   */
  async publishUrl(url: string, template: string, options: CallOptions = {}): Promise<string> {
    const { body } = await this.#transport.call({
      ...limits(options),
      method: 'POST',
      path: '/v1/urls/publish',
      body: JSON.stringify({ url, template }),
    });
    return (body as { published: string }).published;
  }

  /** Makes keys without public IDs. Those of a lost answer are never issued again. */
  async makeKeys(request: KeysRequest, options: CallOptions = {}): Promise<string[]> {
    const { body } = await this.#transport.call({
      ...limits(options),
      method: 'POST',
      path: '/v1/keys',
      body: JSON.stringify(request),
    });
    return (body as { keys: string[] }).keys;
  }

  /**
   * Gives a public ID another name; false if it already had it. That may be the own doing of a call that was sent again
   * after a lost answer.
   */
  async putAlias(id: PublicId, alias: Alias, options: CallOptions = {}): Promise<boolean> {
    const { status } = await this.#transport.call({
      ...limits(options),
      method: 'PUT',
      path: `/v1/ids/${id}/aliases/${aliasPath(alias)}`,
    });
    return status === 201;
  }

  /** Takes a name away. Links with it end. Without that name nothing changes. */
  async deleteAlias(id: PublicId, alias: Alias, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({
      ...limits(options),
      method: 'DELETE',
      path: `/v1/ids/${id}/aliases/${aliasPath(alias)}`,
    });
  }

  /** Which public ID has this name. */
  async lookupAlias<T extends string>(
    type: PublicIdType<T>,
    alias: Alias,
    options: CallOptions = {},
  ): Promise<Named<T>> {
    try {
      const { body } = await this.#get(`${typePath(type)}/aliases/${aliasPath(alias)}`, limits(options));
      return asNamed(type, found(type, (body as { public_id?: unknown }).public_id));
    } catch (error) {
      return outcomeOf(error, missing);
    }
  }

  /** The names of a public ID, 1,000 at most, in the order of scheme and value. */
  async aliases(id: PublicId, options: CallOptions = {}): Promise<Alias[]> {
    const { body } = await this.#get(`/v1/ids/${id}/aliases`, limits(options));
    return (body as { data: { scheme: AliasScheme; value: string; client_namespace?: string }[] }).data.map(
      ({ scheme, value, client_namespace: clientNamespace }) => ({
        scheme,
        value,
        ...(clientNamespace === undefined ? {} : { clientNamespace }),
      }),
    );
  }

  /**
   * Ends a public ID for good. Once more gives the first ending again.
   *
   * @param reason shown to callers with an API key; 1 to 500 characters
   */
  async revoke(id: PublicId, reason?: string, options: CallOptions = {}): Promise<Revocation> {
    try {
      const { body } = await this.#transport.call({
        ...limits(options),
        method: 'POST',
        path: `/v1/ids/${id}/revoke`,
        body: JSON.stringify({ reason }),
      });
      this.#kept?.drop(id);
      return revocation(body);
    } catch (error) {
      return outcomeOf(error, notRevoked);
    }
  }

  /** The same for many public IDs. */
  async revokeAll(
    ids: readonly PublicId[],
    reason?: string,
    options: CallOptions = {},
  ): Promise<(Revocation | Failed)[]> {
    const revoked = await this.#entries<Revocation>(
      cut(ids.map((id) => ({ id, reason }))),
      '/v1/ids/revoke',
      ({ items }) => `{"items":${items}}`,
      limits(options),
      (entry) => revocation(entry.public_id),
      notRevoked,
    );
    ids.forEach((id) => this.#kept?.drop(id));
    return revoked;
  }

  /** A collector for one request of yours: what it is asked at the same time is one call. */
  collector(options: CallOptions = {}): Collector {
    return new Collector(this, options);
  }

  async #known<R extends { readonly outcome: string }>(
    question: string | undefined,
    ask: () => Promise<R>,
  ): Promise<R> {
    const [answer] = await this.#knownEach([question], async () => [await ask()]);
    return answer as R;
  }

  #knownEach<R extends { readonly outcome: string }>(
    questions: readonly (string | undefined)[],
    ask: (missing: readonly number[]) => Promise<R[]>,
  ): Promise<R[]> {
    return this.#kept === undefined
      ? ask(questions.map((_, index) => index))
      : this.#kept.answers(questions, ask);
  }

  #get(path: string, within: Limits): ReturnType<Transport['call']> {
    return this.#transport.call({ ...within, method: 'GET', path });
  }

  async #entries<R>(
    batches: readonly Batch[],
    path: string,
    body: (batch: Batch) => string,
    within: Limits,
    read: (entry: Entry) => R,
    refused: (error: CoatcheckError) => R | undefined,
    idempotencyKey?: string,
  ): Promise<(R | Failed)[]> {
    const requestIds: (string | undefined)[] = [];
    const keyOf = (index: number): string | undefined =>
      idempotencyKey && (batches.length === 1 ? idempotencyKey : `${idempotencyKey}/${index}`);
    const failed = (error: CoatcheckError): Failed => ({ outcome: 'failed', error });
    const answers = paired<R | Failed>(
      batches,
      async (batch, index) => {
        const answer = await this.#transport.call({
          ...within,
          method: 'POST',
          path,
          body: body(batch),
          isBatch: true,
          idempotencyKey: keyOf(index),
        });
        requestIds[index] = answer.requestId;
        return answer.body;
      },
      (entry, index) => {
        if (entry.status < 400) {
          return read(entry);
        }
        const error = CoatcheckError.of(entry.status, entry.error, { requestId: requestIds[index], idempotencyKey });
        return refused(error) ?? failed(error);
      },
      failed,
      (because, index) => ({ ...failed(notSent(because, keyOf(index))), notSent: true }),
    );
    return answers.catch((error: unknown) => {
      // With the key of one batch, the same call again would have other keys at each of its batches.
      throw error instanceof CoatcheckError ? Object.assign(error, { idempotencyKey }) : error;
    });
  }
}

/** Of a call that begins now, with all its requests. */
function limits({ signal, deadlineMillis }: CallOptions): Limits {
  return { signal, ends: deadlineMillis === undefined ? undefined : performance.now() + deadlineMillis };
}

/** Answers what is known of some items, asks for the others, and puts both into the order of the items. */
async function withKnown<I, R>(
  items: readonly I[],
  known: (item: I) => R | undefined,
  ask: (others: readonly I[]) => Promise<R[]>,
): Promise<R[]> {
  const results = items.map(known);
  const answers = await ask(items.filter((_, index) => results[index] === undefined));
  let next = 0;
  return results.map((result) => result ?? (answers[next++] as R));
}

/** A text that no JSON of a gateway has; for one item that has it, the gateway would refuse the whole batch. */
function isSound(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

function refusal(code: string, param: string): CoatcheckError {
  return new CoatcheckError(400, code, 'The text has the character U+0000 or half a surrogate pair.', { param });
}

function unsound(text: string, code: string, param: string): Failed | undefined {
  return isSound(text) ? undefined : { outcome: 'failed', error: refusal(code, param) };
}

function unsoundMint(body: MintBody): Failed | undefined {
  for (const [field, code] of Object.entries(MINT_CODES)) {
    const failed = unsound(body[field as keyof typeof MINT_CODES] ?? '', code, field);
    if (failed !== undefined) {
      return failed;
    }
  }
  return undefined;
}

/**
 * A text as a part of a path or a query.
 *
 * @throws CoatcheckError if it can't be sent
 */
function encoded(text: string, code: string, param: string): string {
  if (!isSound(text)) {
    throw refusal(code, param);
  }
  return encodeURIComponent(text);
}

/** The error of a batch that is not sent because of that of another one. */
function notSent(cause: CoatcheckError, idempotencyKey: string | undefined): CoatcheckError {
  const { status, code, retryAfterMillis } = cause;
  const context = { retryAfterMillis, idempotencyKey, cause };
  return new CoatcheckError(status, code, 'The batch was not sent, because an earlier one failed.', {}, context);
}

function isNamed({ key, legacyId, clientId }: Names): boolean {
  return key !== undefined || legacyId !== undefined || clientId !== undefined;
}

type MintBody = { readonly type: string } & { readonly [field in keyof typeof MINT_CODES]: string | undefined };

function mintBody<T extends string>(type: PublicIdType<T>, names: Names): MintBody {
  const { key, legacyId, clientId, clientNamespace } = names;
  if (clientNamespace !== undefined && clientId === undefined) {
    throw new TypeError('A client namespace needs a client ID.');
  }
  return {
    type: type.name,
    key: key === undefined ? undefined : keyText(key),
    legacy_id: legacyId === undefined ? undefined : keyText(legacyId),
    client_id: clientId,
    client_namespace: clientNamespace,
  };
}

/** What is known of a text without asking; undefined if the gateway has to be asked. */
function refusedText<T extends string>(
  type: PublicIdType<T>,
  text: unknown,
  options: ResolveOptions,
): Resolved<T> | undefined {
  const parsed = type.parse(text);
  const isOlder = options.older === true && parsed.outcome === 'malformed' && mayBeOlder(text);
  return parsed.outcome === 'valid' || isOlder ? undefined : parsed;
}

/** Whether a text may be an older public ID: a segment of a path and a text of JSON, of at most 255 characters. */
function mayBeOlder(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && text.length <= 255 && !/^\.\.?$/.test(text) && isSound(text);
}

/**
 * A text that the gateway's server takes in no path, such as `a/b`, is no public ID of any system; and for an API key
 * of some types, neither is what is of none of them.
 */
function malformed<T extends string>(
  type: PublicIdType<T>,
  text: unknown,
  { status, code }: CoatcheckError,
): Resolved<T> | undefined {
  const parsed = type.parse(text);
  return (status === 400 || code === TYPE_NOT_ALLOWED) && parsed.outcome !== 'valid' ? parsed : undefined;
}

/** Under which the answer is kept. That to an older public ID isn't: it ends with an alias, which no event of it says. */
function resolving<T extends string>(type: PublicIdType<T>, text: unknown): string | undefined {
  return type.is(text) ? `${type.name} ${text}` : undefined;
}

function typePath<T extends string>(type: PublicIdType<T>): string {
  return `/v1/types/${encodeURIComponent(type.name)}`;
}

function aliasPath({ scheme, value, clientNamespace }: Alias): string {
  const path = `${scheme}/${encoded(value, 'alias_malformed', 'value')}`;
  return clientNamespace === undefined
    ? path
    : `${path}?client_namespace=${encoded(clientNamespace, 'parameter_invalid', 'client_namespace')}`;
}

/** What an error stands for, where it stands for an outcome. */
function outcomeOf<R>(error: unknown, read: (error: CoatcheckError) => R | undefined): R {
  const outcome = error instanceof CoatcheckError ? read(error) : undefined;
  if (outcome === undefined) {
    throw error;
  }
  return outcome;
}

function resolvedUrl(body: unknown): ResolvedUrl {
  const answer = body as {
    url: string;
    resolved: string;
    public_url?: string;
    ids: {
      id: string;
      type: string;
      key: string;
      status: 'active' | 'merged';
      merged_into?: string;
      legacy_id?: string;
    }[];
  };
  return {
    outcome: 'resolved',
    url: answer.url,
    resolved: answer.resolved,
    ...(answer.public_url === undefined ? {} : { publicUrl: answer.public_url }),
    ids: answer.ids.map((found) => ({
      id: found.id as PublicId,
      type: found.type,
      key: found.key,
      status: found.status,
      ...(found.merged_into === undefined ? {} : { mergedInto: found.merged_into as PublicId }),
      ...(found.legacy_id === undefined ? {} : { legacyId: found.legacy_id }),
    })),
  };
}

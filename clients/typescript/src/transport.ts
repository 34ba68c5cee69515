import { CoatcheckError } from './error.js';

/** Limits of one call. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take with all its retries, and with all its batches, in milliseconds. */
  readonly deadlineMillis?: number | undefined;
}

/** What a client needs to reach a gateway. */
export interface TransportOptions {
  /** Where the gateway is, such as `https://ids.internal:8080`; a path is kept. */
  readonly url: string | URL;
  /**
   * The API key, or where the present one comes from; it is asked at each attempt. If it fails, so does the call, with
   * `key_unavailable`.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** How long a call for one thing may take, in milliseconds, if it doesn't say: 10,000. */
  readonly deadlineMillis?: number | undefined;
  /** The same for each batch of a call for many things: 30,000. */
  readonly batchDeadlineMillis?: number | undefined;
  /** Instead of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
}

/** When a call ends. */
export interface Limits {
  readonly signal: AbortSignal | undefined;
  /** By `performance.now()`; undefined for what is usual. */
  readonly ends: number | undefined;
}

export interface Call extends Limits {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** JSON, as it is sent each time. */
  readonly body?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly isBatch?: boolean;
}

export interface Answer {
  readonly status: number;
  /** The JSON of the answer; undefined where it has none. */
  readonly body: unknown;
  readonly requestId: string | undefined;
}

const ATTEMPTS_MAX = 10;
/** The gateway answers within 900 ms, a batch within 5 s; what takes longer is lost. */
const ATTEMPT_MILLIS = 3_000;
const BATCH_ATTEMPT_MILLIS = 8_000;
const FIRST_WAIT_MILLIS = 100;
const WAIT_MILLIS_MAX = 2_000;
const NO_ANSWER = 0;
const TLS_REFUSED = 'tls_refused';
const ANSWER_INVALID = 'answer_invalid';
/** Of the errors of Node: the certificate of a server is not trusted, or is another server's, or there is no TLS. */
const TLS_ERROR = /CERT|SIGNATURE|WRONG_VERSION_NUMBER|PACKET_LENGTH/;
/** A timer for longer fires at once. */
const TIMER_MILLIS_MAX = 2 ** 31 - 1;

/**
 * Sends requests until they are answered. What may be sent again is sent again: without an answer, after 408, 429,
 * 502, 503, 504, and 409 `busy`, no earlier than `Retry-After` says, 10 times at most and only before the deadline.
 * Every call of the client is safe to repeat: by nature, by its names, or by its Idempotency-Key.
 */
export class Transport {
  readonly #base: string;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    const url = new URL(options.url);
    const isAddress = [url.username, url.password, url.search, url.hash].every((part) => part === '');
    if (!/^https?:$/.test(url.protocol) || !isAddress) {
      throw new RangeError('The URL of a gateway is http or https, a host and perhaps a path.');
    }
    this.#base = url.href.replace(/\/+$/, '');
    this.#options = options;
  }

  /**
   * The answer of status 2xx.
   *
   * @throws CoatcheckError for every other answer, or none by the deadline
   */
  async call(call: Call): Promise<Answer> {
    const ends = call.ends ?? performance.now() + (call.isBatch ? this.#batchDeadlineMillis : this.#deadlineMillis);
    for (let attempt = 1; ; attempt++) {
      call.signal?.throwIfAborted();
      const result = performance.now() < ends ? await this.#attempt(call, ends) : late(call);
      if (!(result instanceof CoatcheckError)) {
        return result;
      }
      call.signal?.throwIfAborted();
      const wait = waitMillis(attempt, result.retryAfterMillis);
      if (!isTemporary(result) || attempt === ATTEMPTS_MAX) {
        throw result;
      }
      if (performance.now() + wait >= ends) {
        throw result.status === NO_ANSWER ? late(call, result) : result;
      }
      await sleep(wait, call.signal);
    }
  }

  /** The answer as it comes, for a stream that its reader ends by the signal. */
  async open(path: string, accept: string, signal: AbortSignal): Promise<Response> {
    const authorization = await this.#authorization(this.#deadlineMillis, signal);
    return this.#fetch(path, { headers: { accept, authorization }, cache: 'no-store', redirect: 'manual', signal });
  }

  async #attempt(call: Call, ends: number): Promise<Answer | CoatcheckError> {
    const authorization = await this.#authorization(ends - performance.now(), call.signal, call.idempotencyKey);
    const headers: Record<string, string> = { accept: 'application/json, application/problem+json', authorization };
    if (call.body !== undefined) {
      headers['content-type'] = 'application/json';
    }
    if (call.idempotencyKey !== undefined) {
      headers['idempotency-key'] = headerText(call.idempotencyKey);
    }
    const { method, body = null } = call;
    const millis = Math.min(ends - performance.now(), call.isBatch ? BATCH_ATTEMPT_MILLIS : ATTEMPT_MILLIS);
    try {
      return await limited(millis, call.signal, async (signal) => {
        const response = await this.#fetch(call.path, { method, headers, body, redirect: 'manual', signal });
        return answerOf(call, response, await response.text());
      });
    } catch (cause) {
      const context = { idempotencyKey: call.idempotencyKey, cause };
      return isTlsError(cause)
        ? new CoatcheckError(NO_ANSWER, TLS_REFUSED, 'The certificate is not trusted, or there is no TLS.', {}, context)
        : new CoatcheckError(NO_ANSWER, 'no_answer', 'The gateway gave no answer.', {}, context);
    }
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(this.#base + path, init);
  }

  get #deadlineMillis(): number {
    return this.#options.deadlineMillis ?? 10_000;
  }

  get #batchDeadlineMillis(): number {
    return this.#options.batchDeadlineMillis ?? 30_000;
  }

  /** @throws RangeError for a broken API key; CoatcheckError if the application gives none, or a broken one */
  async #authorization(millis: number, signal: AbortSignal | undefined, idempotencyKey?: string): Promise<string> {
    const { apiKey } = this.#options;
    if (typeof apiKey === 'string') {
      return bearer(apiKey);
    }
    try {
      return await limited(millis, signal, async () => bearer(await apiKey()));
    } catch (cause) {
      signal?.throwIfAborted();
      const detail = 'The function apiKey failed, or gave no API key in time.';
      throw new CoatcheckError(NO_ANSWER, 'key_unavailable', detail, {}, { idempotencyKey, cause });
    }
  }
}

function bearer(apiKey: string): string {
  const key = apiKey.trim();
  if (!/^[ -~]{0,255}$/.test(key)) {
    // fetch would show the key in its error.
    throw new RangeError('The API key is too long, or has a character that none has, such as a line break.');
  }
  return `Bearer ${key}`;
}

/** @throws RangeError for a text that is no Idempotency-Key, which `fetch` may not even send */
export function requireIdempotencyKey(text: string | undefined): void {
  if (text !== undefined && !/^[!-~]{1,200}$/.test(text)) {
    throw new RangeError('An idempotencyKey has 1 to 200 visible ASCII characters.');
  }
}

/** The gateway reads quotes as those around a text. */
function headerText(idempotencyKey: string): string {
  return idempotencyKey.includes('"') ? `"${idempotencyKey.replace(/["\\]/g, '\\$&')}"` : idempotencyKey;
}

function answerOf(call: Call, response: Response, text: string): Answer | CoatcheckError {
  const requestId = response.headers.get('request-id') ?? undefined;
  const context = {
    requestId,
    retryAfterMillis: retryAfterMillis(response.headers.get('retry-after')),
    idempotencyKey: call.idempotencyKey,
  };
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    const detail = 'The answer is a redirect, and so not of a gateway. Check the URL.';
    return new CoatcheckError(response.status, ANSWER_INVALID, detail, {}, context);
  }
  const body = json(text);
  if (!response.ok) {
    return CoatcheckError.of(response.status, body, context);
  }
  return body === undefined && response.status !== 204
    ? CoatcheckError.of(response.status, undefined, context)
    : { status: response.status, body, requestId };
}

function json(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of a number of seconds or a date. */
function retryAfterMillis(header: string | null): number | undefined {
  if (header === null) {
    return undefined;
  }
  const millis = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(millis) ? Math.max(0, millis) : undefined;
}

/** Whether the same call may succeed later without a change. */
export function isTemporary({ status, code }: CoatcheckError): boolean {
  if (status === NO_ANSWER) {
    return code !== TLS_REFUSED && code !== ANSWER_INVALID;
  }
  return [408, 429, 502, 503, 504].includes(status) || (status === 409 && code === 'busy');
}

function isTlsError(error: unknown): boolean {
  const { code, cause } = Object(error) as { code?: unknown; cause?: { code?: unknown } };
  return TLS_ERROR.test(String(code)) || TLS_ERROR.test(String(cause?.code));
}

/**
 * Runs work until a time has passed or a signal comes; its own signal says so, and the promise rejects even if the work
 * doesn't heed it. `AbortSignal.any` would hold the two weakly on Node, where a timeout may then be collected before it
 * fires, and signals that live long would keep something of each call.
 */
async function limited<R>(
  millis: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  signal?.throwIfAborted();
  const own = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason));
  });
  const end = (): void => own.abort(signal?.aborted ? signal.reason : new DOMException('Too late.', 'TimeoutError'));
  const timer = setTimeout(end, Math.min(Math.ceil(millis), TIMER_MILLIS_MAX));
  signal?.addEventListener('abort', end);
  try {
    return await Promise.race([work(own.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Spread, so that callers who failed together don't come back together. */
function waitMillis(attempt: number, retryAfter: number | undefined): number {
  const own = Math.min(WAIT_MILLIS_MAX, FIRST_WAIT_MILLIS * 2 ** (attempt - 1));
  return (retryAfter ?? own / 2) + (Math.random() * own) / 2;
}

function late(call: Call, cause?: CoatcheckError): CoatcheckError {
  return new CoatcheckError(NO_ANSWER, 'deadline_exceeded', 'The gateway gave no answer in time.', {}, {
    idempotencyKey: call.idempotencyKey,
    cause,
  });
}

/** Rejects with the signal's reason if the signal comes first. */
export function sleep(millis: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, millis);
    signal?.addEventListener('abort', end, { once: true });
  });
}

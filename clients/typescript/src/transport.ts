import { CoatcheckError } from './error.js';

/** Limits of one call. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take with all its retries, in milliseconds. */
  readonly deadlineMillis?: number | undefined;
}

/** What a client needs to reach a gateway. */
export interface TransportOptions {
  /** Where the gateway is, such as `https://ids.internal:8080`; a path is kept. */
  readonly url: string | URL;
  /** The API key, or where the present one comes from; it is asked at each attempt. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** How long a call for one thing may take, in milliseconds, if it doesn't say: 10,000. */
  readonly deadlineMillis?: number | undefined;
  /** The same for batches: 30,000. */
  readonly batchDeadlineMillis?: number | undefined;
  /** Instead of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
}

export interface Call extends CallOptions {
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
    if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
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
    const deadlineMillis =
      call.deadlineMillis ??
      (call.isBatch
        ? (this.#options.batchDeadlineMillis ?? 30_000)
        : (this.#options.deadlineMillis ?? 10_000));
    const ends = performance.now() + deadlineMillis;
    for (let attempt = 1; ; attempt++) {
      call.signal?.throwIfAborted();
      const restMillis = ends - performance.now();
      const result = restMillis > 0 ? await this.#attempt(call, restMillis) : late(call);
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
    return this.#fetch(path, {
      headers: { accept, authorization: await this.#authorization() },
      cache: 'no-store',
      redirect: 'error',
      signal,
    });
  }

  async #attempt(call: Call, restMillis: number): Promise<Answer | CoatcheckError> {
    const limit = Math.min(restMillis, call.isBatch ? BATCH_ATTEMPT_MILLIS : ATTEMPT_MILLIS);
    const timeout = AbortSignal.timeout(Math.ceil(limit));
    const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
    const headers: Record<string, string> = {
      accept: 'application/json, application/problem+json',
      authorization: await this.#authorization(),
    };
    if (call.body !== undefined) {
      headers['content-type'] = 'application/json';
    }
    if (call.idempotencyKey !== undefined) {
      headers['idempotency-key'] = headerText(call.idempotencyKey);
    }
    try {
      const response = await this.#fetch(call.path, {
        method: call.method,
        headers,
        body: call.body ?? null,
        redirect: 'error',
        signal,
      });
      return answerOf(call, response, await response.text());
    } catch (cause) {
      return new CoatcheckError(NO_ANSWER, 'no_answer', 'The gateway gave no answer.', {}, {
        idempotencyKey: call.idempotencyKey,
        cause,
      });
    }
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(this.#base + path, init);
  }

  async #authorization(): Promise<string> {
    const { apiKey } = this.#options;
    const key = (typeof apiKey === 'function' ? await apiKey() : apiKey).trim();
    if (!/^[ -~]{0,255}$/.test(key)) {
      // fetch would show the key in its error.
      throw new RangeError('The API key is too long, or has a character that none has, such as a line break.');
    }
    return `Bearer ${key}`;
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
  return [NO_ANSWER, 408, 429, 502, 503, 504].includes(status) || (status === 409 && code === 'busy');
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

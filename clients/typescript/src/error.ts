import type { MalformedReason } from './public-id.js';

/** What the gateway says of a failure, where it says it: RFC 9457, and of an item of a batch. */
interface Problem {
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly param?: unknown;
  readonly reason?: unknown;
  readonly position?: unknown;
  readonly ended_at?: unknown;
  readonly ended_reason?: unknown;
  readonly request_id?: unknown;
  readonly errors?: unknown;
}

export interface ErrorContext {
  readonly retryAfterMillis?: number | undefined;
  readonly requestId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

/**
 * A call that the gateway refused or that got no answer. Branch on `code`: one of
 * [the gateway's](/docs/errors), which are stable, or one of the client's own:
 *
 * | code | status | |
 * |---|---|---|
 * | `no_answer` | 0 | no connection, or a connection that broke |
 * | `deadline_exceeded` | 0 | no answer by the deadline of the call |
 * | `key_unavailable` | 0 | your function `apiKey` failed, or gave no API key by the deadline |
 * | `tls_refused` | 0 | the certificate is not trusted, or there is no TLS |
 * | `answer_invalid` | as answered | the answer is a redirect, a proxy's page, or has not one entry for each item |
 *
 * After status 0 and 5xx a mint or a revocation may have been done, unless its item has `notSent`. Send it again to
 * find out: a mint without names with the `idempotencyKey` of this error.
 */
export class CoatcheckError extends Error {
  override readonly name = 'CoatcheckError';
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  readonly code: string;
  /** For the gateway's log; quote it when you ask for help. Items of a batch have that of their batch. */
  readonly requestId: string | undefined;
  /** The field, parameter or header with the error. */
  readonly param: string | undefined;
  /** Only of `public_id_malformed`. */
  readonly reason: MalformedReason | undefined;
  /** Only of `public_id_malformed`, from 0. */
  readonly position: number | undefined;
  /** Only of a revoked public ID, as the gateway wrote it. */
  readonly endedAt: string | undefined;
  /** Only of a public ID that was revoked with a reason. */
  readonly endedReason: string | undefined;
  /** How long the gateway asked to wait, in milliseconds. */
  readonly retryAfterMillis: number | undefined;
  /**
   * Of the call, if it had one. At an item that failed with its whole batch, while other batches were answered, it is
   * that of the batch: the key of the call, `/`, and the number of the batch; so it is if the batch was not sent.
   */
  readonly idempotencyKey: string | undefined;
  /** Only of `batch_refused`: the bad items of an atomic batch, by their index in it. */
  readonly items: readonly { readonly index: number; readonly error: CoatcheckError }[];

  constructor(status: number, code: string, detail: string, problem: Problem = {}, context: ErrorContext = {}) {
    super(`${detail} (${code}${status === 0 ? '' : `, status ${status}`})`, { cause: context.cause });
    this.status = status;
    this.code = code;
    this.requestId = text(problem.request_id) ?? context.requestId;
    this.param = text(problem.param);
    this.reason = text(problem.reason) as MalformedReason | undefined;
    this.position = typeof problem.position === 'number' ? problem.position : undefined;
    this.endedAt = text(problem.ended_at);
    this.endedReason = text(problem.ended_reason);
    this.retryAfterMillis = context.retryAfterMillis;
    this.idempotencyKey = context.idempotencyKey;
    this.items = Array.isArray(problem.errors)
      ? problem.errors.map((item: { index: number; status: number; error: Problem }) => ({
          index: item.index,
          error: CoatcheckError.of(item.status, item.error, context),
        }))
      : [];
  }

  /** Of a problem, or of what stands in its place in an answer. */
  static of(status: number, problem: unknown, context: ErrorContext = {}): CoatcheckError {
    const said = (typeof problem === 'object' && problem !== null ? problem : {}) as Problem;
    const code = text(said.code);
    return code === undefined
      ? new CoatcheckError(status, 'answer_invalid', 'The answer is not of a gateway.', {}, context)
      : new CoatcheckError(status, code, text(said.detail) ?? code, said, context);
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

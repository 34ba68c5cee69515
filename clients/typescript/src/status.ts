import { CoatcheckError } from './error.js';
import type { LookedUp, Named, Resolved } from './outcomes.js';
import { isTemporary } from './transport.js';

/**
 * How an application answers for a public ID in its URL: 404 for another type's too, which says nothing of that ID.
 * Where its call failed, 503 if the same call may succeed later, and 500 otherwise, such as for a wrong API key.
 */
export function statusOf(answer: Resolved | LookedUp | Named | CoatcheckError): 200 | 400 | 404 | 410 | 500 | 503 {
  if (answer instanceof CoatcheckError) {
    return isTemporary(answer) ? 503 : 500;
  }
  switch (answer.outcome) {
    case 'found':
    case 'merged':
      return 200;
    case 'malformed':
      return 400;
    case 'unknown':
    case 'wrong_type':
      return 404;
    case 'revoked':
    case 'erased':
      return 410;
  }
}

import type { LookedUp, Named, Resolved } from './outcomes.js';

/** How an application answers for a public ID in its URL: 404 for another type's too, which says nothing of that ID. */
export function statusOf({ outcome }: Resolved | LookedUp | Named): 200 | 400 | 404 | 410 {
  switch (outcome) {
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

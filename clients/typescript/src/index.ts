export { CoatcheckError } from './error.js';
export {
  type Alias,
  type AliasScheme,
  Coatcheck,
  type CoatcheckOptions,
  type KeysRequest,
  type MintOptions,
  type Names,
  type ResolvedUrl,
  type ResolveOptions,
  type UrlId,
} from './client.js';
export { type Collector } from './collector.js';
export { type Key } from './key.js';
export {
  type Done,
  type Erased,
  type Failed,
  type Found,
  type LookedUp,
  type Mapping,
  type Merged,
  type Minted,
  type Named,
  type Resolved,
  type Revocation,
  type Revoked,
  type Unknown,
} from './outcomes.js';
export {
  formatPublicId,
  type Malformed,
  type MalformedReason,
  parsePublicId,
  type PublicId,
  PublicIdError,
  type PublicIdType,
  publicIdType,
  tokenOf,
  type Valid,
  type WrongType,
} from './public-id.js';
export { statusOf } from './status.js';
export { type CacheStatistics } from './kept-answers.js';
export { type CallOptions } from './transport.js';

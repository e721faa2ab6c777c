import { hkdfSync } from 'node:crypto';
import { openText, sealText } from '../../kernel/aes-gcm.ts';
import { engramError } from '../../kernel/errors.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Clock, UuidSource } from '../../ports/system.ts';
import { type DocumentStore, insert, removeWhere, replace, update } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { retryOnConflict } from '../async/retry-on-conflict.ts';
import { createHeartbeat } from './heartbeat.ts';
import { isLeased } from './lease.ts';

type KeyDocument = {
  /** Hash of the request that the key was first sent with. */
  readonly request: string;
  readonly holder: string;
  readonly leasedUntilMs: number;
  readonly expiresAtMs: number;
  /** See `CallContext.operationId`. */
  readonly operation: string;
  /** Null: none yet. */
  readonly sealedAnswer: string | null;
};

export const idempotencyKeysCollection: OwnedCollection<KeyDocument> = {
  name: 'idempotency_keys',
  level: 'system',
  owner: 'platform',
  writers: { every: 'each service keeps the answers of its own routes' },
  belongsTo: 'system',
  indexes: [{ fields: ['expiresAtMs'] }],
};

export interface KeyedRequest {
  readonly user: string;
  readonly tenant: string;
  /** The key as the client sent it. */
  readonly key: string;
  /** Differs when the request does. */
  readonly fingerprint: string;
}

/** An answer that is kept; null: it is not one that can be given again, so the request is as if it had no key. */
type KeptAnswer = JsonObject | null;

const KEPT_MS = 24 * 3_600_000;
const LEASE_MS = 10_000;
const SWEEP_EVERY_MS = 3_600_000;

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

/**
 * Carries out a request once per user and key, and gives its first answer again for 24 hours, in whatever process the
 * repetition arrives. A request that failed or whose process was killed is carried out again, as the same operation: what
 * it had committed before its answer was kept is found, not made again.
 */
export function createIdempotencyKeys(options: {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: UuidSource;
  readonly logger: Logger;
}) {
  const { store, clock, ids, logger } = options;
  let sweptAtMs = 0;

  const sweep = (nowMs: number): void => {
    if (nowMs - sweptAtMs < SWEEP_EVERY_MS) return;
    sweptAtMs = nowMs;
    const expired = removeWhere(idempotencyKeysCollection, { expiresAtMs: { lessThan: nowMs } });
    store.commit(SYSTEM_SCOPE, [expired]).catch((error: unknown) => logger.warn('idempotency.sweep_failed', { error }));
  };

  return {
    /**
     * Returns the first answer, or null after `work` was carried out. `work` gets the id of the operation, the same in each
     * attempt, and returns the answer to keep. Errors:
     * `CogneeValidationError` for the key of another request, `ConflictError` while the first one is carried out.
     */
    async once(request: KeyedRequest, work: (operation: string) => Promise<KeptAnswer>): Promise<JsonObject | null> {
      const { user, tenant, key, fingerprint } = request;
      const nowMs = clock.now().getTime();
      const holder = ids.uuid();
      const id = sha256OfJson([user, tenant, key]);
      const lease = { holder, leasedUntilMs: nowMs + LEASE_MS };
      const mine = {
        request: fingerprint,
        ...lease,
        expiresAtMs: nowMs + KEPT_MS,
        operation: ids.uuid(),
        sealedAnswer: null,
      };
      const { operation, sealedAnswer: known } = await claimKey(options, id, mine);
      if (known !== null) return opened(request, id, known);
      sweep(nowMs);
      const held = (set: Partial<KeyDocument>) =>
        store.commit(SYSTEM_SCOPE, [update(idempotencyKeysCollection, id, { where: { holder }, set })]);
      const heartbeat = createHeartbeat({
        clock,
        leaseMs: LEASE_MS,
        everyMs: LEASE_MS / 3,
        heldSinceMs: clock.monotonicMs(),
        afterPause: 'beat',
        extend: async () => void (await held({ leasedUntilMs: clock.now().getTime() + LEASE_MS })),
        onFailed: (error) => logger.warn('idempotency.beat_failed', { error }),
        onOver: () => undefined,
      });
      let answer: KeptAnswer = null;
      try {
        answer = await work(operation);
        return null;
      } finally {
        await heartbeat.stop();
        // Without an answer the key is as if it was never sent.
        const outcome = answer === null ? { expiresAtMs: 0 } : { sealedAnswer: sealed(request, id, answer) };
        const end = held({ leasedUntilMs: 0, ...outcome });
        await end.catch((error: unknown) => logger.warn('idempotency.save_failed', { error }));
      }
    },
  };
}

/** Returns the record of the first request when it has an answer, else the one by which the caller carries it out. */
function claimKey(
  { store, clock }: { readonly store: DocumentStore; readonly clock: Clock },
  id: string,
  mine: KeyDocument,
): Promise<KeyDocument> {
  return retryOnConflict(async () => {
    const found = await store.get(SYSTEM_SCOPE, idempotencyKeysCollection, id);
    if (found === null) {
      await store.commit(SYSTEM_SCOPE, [insert(idempotencyKeysCollection, id, mine)]);
      return mine;
    }
    const { value, version } = found;
    const nowMs = clock.now().getTime();
    if (value.expiresAtMs > nowMs) {
      if (value.request !== mine.request) throw otherRequest();
      if (value.sealedAnswer) return value;
      if (isLeased(value, nowMs)) throw inProgress(value.leasedUntilMs - nowMs);
    }
    const isSame = value.request === mine.request && !value.sealedAnswer;
    const next = isSame ? { ...mine, operation: value.operation ?? mine.operation } : mine;
    await store.commit(SYSTEM_SCOPE, [replace(idempotencyKeysCollection, id, next, version)]);
    return next;
  });
}

function otherRequest(): Error {
  const text = 'This Idempotency-Key was sent with another request before; use a new key for each request.';
  return engramError('CogneeValidationError', text);
}

function inProgress(leftMs: number): Error {
  const text = 'The request with this Idempotency-Key is still being carried out; send it again later for its answer.';
  return engramError('ConflictError', text, { retryable: true, retryAfterSeconds: Math.ceil(leftMs / 1000) });
}

/** The key of a request seals its answer: who reads the store, where only its hash is, reads no answer. */
function sealingKey({ user, key }: KeyedRequest): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, user, 'engram idempotency answer', 32));
}

function sealed(request: KeyedRequest, id: string, answer: JsonObject): string {
  return sealText(sealingKey(request), JSON.stringify(answer), Buffer.from(id)).toString('base64');
}

function opened(request: KeyedRequest, id: string, answer: string): JsonObject {
  return JSON.parse(openText(sealingKey(request), Buffer.from(answer, 'base64'), Buffer.from(id))) as JsonObject;
}

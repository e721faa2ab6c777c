import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { engramError } from '../../kernel/errors.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Clock, IdSource } from '../../ports/system.ts';
import {
  type DocumentStore,
  DuplicateKeyError,
  insert,
  removeWhere,
  replace,
  update,
  VersionConflictError,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { createHeartbeat } from './heartbeat.ts';
import { isLeased } from './lease.ts';

type KeyDocument = {
  /** Hash of the request that the key was first sent with. */
  readonly request: string;
  readonly holder: string;
  readonly leasedUntilMs: number;
  readonly expiresAtMs: number;
  /** Sealed with the key, of which only a hash is stored: who reads the store reads no answer. Null: none yet. */
  readonly answer: string | null;
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
export type KeptAnswer = JsonObject | null;

const KEPT_MS = 24 * 3_600_000;
const LEASE_MS = 10_000;
const SWEEP_EVERY_MS = 3_600_000;

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

/**
 * Carries out a request once per user and key, and gives its first answer again for 24 hours, in whatever process the
 * repetition arrives. A request that failed or whose process was killed is carried out again.
 */
export function createIdempotencyKeys(options: {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'uuid'>;
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

  /** Returns the sealed answer of the first request, or null when the caller is to carry it out. */
  const claim = async (id: string, mine: KeyDocument): Promise<string | null> => {
    for (;;) {
      try {
        const found = await store.get(SYSTEM_SCOPE, idempotencyKeysCollection, id);
        const nowMs = clock.now().getTime();
        const known = found !== null && found.value.expiresAtMs > nowMs ? found.value : null;
        if (known !== null && known.request !== mine.request) throw otherRequest();
        if (known?.answer != null) return known.answer;
        if (known !== null && isLeased(known, nowMs)) throw inProgress(known.leasedUntilMs - nowMs);
        const write =
          found === null
            ? insert(idempotencyKeysCollection, id, mine)
            : replace(idempotencyKeysCollection, id, mine, found.version);
        await store.commit(SYSTEM_SCOPE, [write]);
        return null;
      } catch (error) {
        if (!(error instanceof DuplicateKeyError || error instanceof VersionConflictError)) throw error;
      }
    }
  };

  return {
    /**
     * Returns the first answer, or null after `work` was carried out. `work` returns the answer to keep. Errors:
     * `CogneeValidationError` for the key of another request, `ConflictError` while the first one is carried out.
     */
    async once(request: KeyedRequest, work: () => Promise<KeptAnswer>): Promise<JsonObject | null> {
      const { user, tenant, key, fingerprint } = request;
      const nowMs = clock.now().getTime();
      const holder = ids.uuid();
      const id = sha256OfJson([user, tenant, key]);
      const lease = { holder, leasedUntilMs: nowMs + LEASE_MS };
      const mine = { request: fingerprint, ...lease, expiresAtMs: nowMs + KEPT_MS, answer: null };
      const known = await claim(id, mine);
      if (known !== null) return opened(request, known);
      sweep(nowMs);
      const held = (set: Partial<KeyDocument>) =>
        store.commit(SYSTEM_SCOPE, [update(idempotencyKeysCollection, id, { where: { holder }, set })]);
      const heartbeat = createHeartbeat({
        ...{ clock, leaseMs: LEASE_MS, everyMs: LEASE_MS / 3, heldSinceMs: clock.monotonicMs(), afterPause: 'beat' },
        extend: async () => void (await held({ leasedUntilMs: clock.now().getTime() + LEASE_MS })),
        onFailed: (error) => logger.warn('idempotency.beat_failed', { error }),
        onOver: () => undefined,
      });
      let answer: KeptAnswer = null;
      try {
        answer = await work();
        return null;
      } finally {
        await heartbeat.stop();
        // Without an answer the key is as if it was never sent.
        const end = held({
          leasedUntilMs: 0,
          ...(answer === null ? { expiresAtMs: 0 } : { answer: sealed(request, answer) }),
        });
        await end.catch((error: unknown) => logger.warn('idempotency.save_failed', { error }));
      }
    },
  };
}

function otherRequest(): Error {
  const text = 'This Idempotency-Key was sent with another request before; use a new key for each request.';
  return engramError('CogneeValidationError', text);
}

function inProgress(leftMs: number): Error {
  const text = 'The request with this Idempotency-Key is still being carried out; send it again later for its answer.';
  return engramError('ConflictError', text, { retryable: true, retryAfterSeconds: Math.ceil(leftMs / 1000) });
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

function sealingKey({ user, key }: KeyedRequest): Buffer {
  return Buffer.from(hkdfSync('sha256', key, user, 'engram idempotency answer', 32));
}

function sealed(request: KeyedRequest, answer: JsonObject): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(request), iv);
  const content = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64');
}

function opened(request: KeyedRequest, answer: string): JsonObject {
  const bytes = Buffer.from(answer, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(request), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const content = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  return JSON.parse(content.toString()) as JsonObject;
}

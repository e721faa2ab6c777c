import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientMessage, isEngramError } from '../../common/domain/errors.ts';
import type { JsonObject } from '../../common/domain/json.ts';
import { SYSTEM_SCOPE } from '../../common/domain/scope.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { beginErasure, type ErasedThing } from '../../common/messaging/methods/auth-managed.ts';
import type { ErasureProgress } from '../../common/messaging/methods/ingest-managed.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/ports/document-store.ts';
import { createErasures, type Erasure } from '../../common/repositories/erasures.ts';
import type { ManagedThing } from '../../common/repositories/managed-resources.ts';
import { carryOutErasure, type ErasureDependencies, type ErasureWatch, type ErasureWish } from './carry-out-erasure.ts';

/** Erasures for the operator, which asks again until there is a receipt. */
export interface ManagedErasures {
  /**
   * Begins the erasure, or goes on with one that nobody is at; answers when it has ended, or how far it is after a while.
   * Errors: those of `eraseDataset` in common/messaging/methods/ingest-managed.ts.
   */
  progress(thing: ErasureWish, context: CallContext): Promise<ErasureProgress>;
  /** Ends what is in hand here after its step; somebody else goes on. */
  stop(): Promise<void>;
}

/** The operator's patience is 30 s. */
const ANSWER_AFTER_MS = 8_000;
/** Who died does not hold up an erasure for longer. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const LOOK_AGAIN_MS = 500;

export function createManagedErasures(
  deps: ErasureDependencies,
  { answerAfterMs = ANSWER_AFTER_MS }: { readonly answerAfterMs?: number } = {},
): ManagedErasures {
  const erasures = createErasures(deps.store);
  const worker = randomUUID();
  const stopping = new AbortController();
  const inHand = new Map<string, Promise<void>>();
  const read = async (thing: ErasedThing): Promise<Erasure> => {
    const erasure = await erasures.get(thing.crUid, placeOf(thing));
    if (erasure === null) throw new Error('an erasure that was begun is gone');
    return erasure;
  };
  const open = async (thing: ErasedThing): Promise<void> => {
    const place = placeOf(thing);
    if ((await erasures.get(thing.crUid, place)) !== null) return;
    const write = erasures.insertWrite(thing.crUid, place, deps.clock.now().toISOString());
    await deps.store.commit(SYSTEM_SCOPE, [write]).catch((error: unknown) => {
      if (!(error instanceof DuplicateKeyError)) throw error;
    });
  };
  /** Null when somebody else is at it. */
  const claim = async (thing: ErasedThing): Promise<Erasure | null> => {
    const erasure = await read(thing);
    const now = deps.clock.now().getTime();
    if (erasure.receipt !== null || (erasure.worker !== null && erasure.leasedUntilMs > now)) return null;
    const claimed = { ...erasure, worker, leasedUntilMs: now + LEASE_MS, failure: null };
    try {
      await deps.store.commit(SYSTEM_SCOPE, [erasures.replaceWrite(claimed)]);
      return { ...claimed, version: erasure.version + 1 };
    } catch (error) {
      if (error instanceof VersionConflictError) return null;
      throw error;
    }
  };
  /** Whether this process is at it, or takes it up: at once, so that no second request does. */
  const workOn = (thing: ErasureWish, id: string, context: CallContext): Promise<void> => {
    const known = inHand.get(id);
    if (known !== undefined || stopping.signal.aborted) return known ?? Promise.resolve();
    const work = claim(thing)
      .then((erasure) => {
        const inContext = { ...context, signal: stopping.signal };
        return erasure === null ? undefined : drive({ ...deps, erasures }, { thing, erasure, context: inContext });
      })
      .catch((error: unknown) => deps.logger.warn('ingest.erasure.lost', { error }))
      .finally(() => inHand.delete(id));
    inHand.set(id, work);
    return work;
  };
  return {
    async progress(thing, { requestId }) {
      const endsAt = performance.now() + answerAfterMs;
      // Who may not is told so before anything is written down.
      const { receipt } = await deps.messenger.call(beginErasure, thingOf(thing), { requestId });
      if (receipt !== null) return ended(receipt, await erasures.get(thing.crUid, placeOf(thing)));
      await open(thing);
      for (;;) {
        const { id } = await read(thing);
        await atMost(endsAt - performance.now(), workOn(thing, id, { requestId }));
        const erasure = await read(thing);
        const rest = endsAt - performance.now();
        if (erasure.receipt !== null || erasure.failure !== null || rest <= 0) return progressOf(erasure);
        // Somebody else is at it.
        await sleep(Math.min(rest, LOOK_AGAIN_MS));
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all(inHand.values());
    },
  };
}

function thingOf({ tenantId, datasetId, crUid }: ErasureWish): ErasedThing {
  return { tenantId, crUid, ...(datasetId === undefined ? {} : { datasetId }) };
}

function placeOf({ tenantId, datasetId }: ErasedThing): ManagedThing {
  return { tenant: tenantId, dataset: datasetId ?? null };
}

type DriveDependencies = ErasureDependencies & { readonly erasures: ReturnType<typeof createErasures> };

interface Drive {
  readonly thing: ErasureWish;
  readonly erasure: Erasure;
  readonly context: CallContext;
}

/** Fails only when the record cannot be kept: somebody else has taken over, or the store is away. */
async function drive(deps: DriveDependencies, { thing, erasure, context }: Drive): Promise<void> {
  const record = createRecord(deps, erasure);
  const renewal = setInterval(() => void record.save({}).catch(() => {}), RENEW_MS).unref();
  const watch: ErasureWatch = {
    ...{ begunAt: erasure.begunAt, context, removed: record.removed, left: record.left, total: record.total },
    async step(name) {
      context.signal?.throwIfAborted();
      await record.save({ step: name });
    },
  };
  try {
    const receipt = await carryOutErasure(deps, thing, watch);
    await record.save({ receipt, step: '', residue: 0, worker: null });
  } catch (error) {
    if (error instanceof VersionConflictError) throw error;
    const isStopped = context.signal?.aborted === true;
    if (!isStopped)
      deps.logger.warn('ingest.erasure.failed', { error, tenant: thing.tenantId, dataset: thing.datasetId });
    await record.save({ worker: null, ...(isStopped ? {} : { failure: failureOf(error) }) });
  } finally {
    clearInterval(renewal);
  }
}

/** The record of an erasure in hand; each save renews the lease, one after the other. */
function createRecord({ store, clock, erasures }: DriveDependencies, erasure: Erasure) {
  let current = erasure;
  let saving: Promise<unknown> = Promise.resolve();
  const removed: Record<string, number> = { ...(erasure.removed as Record<string, number>) };
  let residue = erasure.residue;
  const save = async (change: Partial<Erasure>): Promise<void> => {
    const leasedUntilMs = clock.now().getTime() + LEASE_MS;
    const next = { ...current, removed: { ...removed }, residue, ...change, leasedUntilMs };
    await store.commit(SYSTEM_SCOPE, [erasures.replaceWrite(next)]);
    current = { ...next, version: current.version + 1 };
  };
  return {
    save(change: Partial<Erasure>): Promise<void> {
      const saved = saving.then(() => save(change));
      saving = saved.catch(() => {});
      return saved;
    },
    removed(kind: string, count: number): void {
      if (count > 0) removed[kind] = (removed[kind] ?? 0) + count;
    },
    left(count: number): void {
      residue = count;
    },
    total: (): JsonObject => ({ ...removed }),
  };
}

function failureOf(error: unknown): Erasure['failure'] {
  if (!isEngramError(error))
    return { name: 'CogneeSystemError', message: 'An unexpected error; see the log of ingest' };
  return { name: error.wireName, message: clientMessage(error) };
}

function progressOf(erasure: Erasure): ErasureProgress {
  if (erasure.receipt !== null) return ended(erasure.receipt, erasure);
  const { step, removed, residue, failure } = erasure;
  return { erased: false, step, removed, residue, receipt: null, failure };
}

function ended(receipt: string, erasure: Erasure | null): ErasureProgress {
  return { erased: true, step: '', removed: erasure?.removed ?? {}, residue: 0, receipt, failure: null };
}

async function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  const timeout = new AbortController();
  await Promise.race([work, sleep(Math.max(0, milliseconds), undefined, { signal: timeout.signal }).catch(() => {})]);
  timeout.abort();
}

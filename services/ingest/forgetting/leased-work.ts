import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientMessage, isEngramError } from '../../common/kernel/errors.ts';
import { settlesWithin } from '../../common/platform/async/time-limit.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { Leased } from '../repositories/leased.ts';

/** A record of work that somebody asks for again and again until it is over. */
export type LeasedRecord = Leased & { readonly version: number };

export interface LeasedWorkParts<Record extends LeasedRecord, Input> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** False: this process has the store alone, so whoever else was at it is dead. */
  readonly isShared: boolean;
  /** Of log lines: `ingest.<what>.failed`. */
  readonly what: string;
  /** `VersionConflictError` when it changed since it was read. */
  save(record: Record): Promise<unknown>;
  /** Does all of it, or goes on; resolves to what its record says at the end. */
  work(record: Record, input: Input, watch: WorkWatch<Record>): Promise<Partial<Record>>;
  /** The asker's patience is 30 s. Default 8 s. */
  readonly answerAfterMs?: number;
}

export interface WorkWatch<Record> {
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Throws when somebody else has taken over. */
  update(change: Partial<Record>): Promise<void>;
}

export interface Asked<Record, Input> {
  /** Of the work, in this process and in its log. */
  readonly id: string;
  readonly input: Input;
  readonly requestId: string;
  read(): Promise<Record>;
}

/** Work in hand in this process, for whoever asks how far it is. */
export interface LeasedWork<Record, Input> {
  /** Takes it up when nobody is at it; answers when it is over, when an attempt failed, or how far it is after a while. */
  progress(asked: Asked<Record, Input>): Promise<Record>;
  /** Takes it up when nobody is at it, and waits for nothing. */
  goOn(asked: Asked<Record, Input>): void;
  /** Ends what is in hand here; somebody else goes on. */
  stop(): Promise<void>;
}

const ANSWER_AFTER_MS = 8_000;
/** Who died does not hold it up for longer. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const LOOK_AGAIN_MS = 500;

export function createLeasedWork<Record extends LeasedRecord, Input>(
  parts: LeasedWorkParts<Record, Input>,
): LeasedWork<Record, Input> {
  const { clock, logger, what, answerAfterMs = ANSWER_AFTER_MS } = parts;
  const worker = randomUUID();
  const stopping = new AbortController();
  const inHand = new Map<string, Promise<void>>();
  /** Null when somebody else is at it. */
  const claim = async (record: Record): Promise<Record | null> => {
    const now = clock.now().getTime();
    const isOthers = record.worker !== null && record.leasedUntilMs > now && parts.isShared;
    if (record.isComplete || isOthers) return null;
    const claimed = { ...record, worker, leasedUntilMs: now + LEASE_MS, failure: null };
    try {
      await parts.save(claimed);
      return { ...claimed, version: record.version + 1 };
    } catch (error) {
      if (error instanceof VersionConflictError) return null;
      throw error;
    }
  };
  const workOn = ({ id, input, requestId, read }: Asked<Record, Input>): Promise<void> => {
    const known = inHand.get(id);
    if (known !== undefined || stopping.signal.aborted) return known ?? Promise.resolve();
    const work = read()
      .then(claim)
      .then((claimed) => (claimed === null ? undefined : drive(parts, claimed, { id, input, requestId, stopping })))
      .catch((error: unknown) => logger.warn(`ingest.${what}.lost`, { error, id }))
      .finally(() => inHand.delete(id));
    inHand.set(id, work);
    return work;
  };
  return {
    async progress(asked) {
      const endsAt = performance.now() + answerAfterMs;
      for (;;) {
        await settlesWithin(workOn(asked), endsAt - performance.now());
        const record = await asked.read();
        const rest = endsAt - performance.now();
        if (record.isComplete || record.failure !== null || rest <= 0 || stopping.signal.aborted) return record;
        // Somebody else is at it.
        await sleep(Math.min(rest, LOOK_AGAIN_MS));
      }
    },
    goOn: (asked) => void workOn(asked),
    async stop() {
      stopping.abort();
      await Promise.all(inHand.values());
    },
  };
}

interface Drive<Input> {
  readonly id: string;
  readonly input: Input;
  readonly requestId: string;
  readonly stopping: AbortController;
}

/** Fails only when the record cannot be kept: somebody else has taken over, or the store is away. */
async function drive<Record extends LeasedRecord, Input>(
  { clock, logger, what, save, work }: LeasedWorkParts<Record, Input>,
  claimed: Record,
  { id, input, requestId, stopping }: Drive<Input>,
): Promise<void> {
  let current = claimed;
  let saving: Promise<unknown> = Promise.resolve();
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping.signal, lost.signal]);
  const update = (change: Partial<Record>): Promise<void> => {
    const saved = saving.then(async () => {
      const next = { ...current, ...change, leasedUntilMs: clock.now().getTime() + LEASE_MS };
      await save(next);
      current = { ...next, version: current.version + 1 };
    });
    saving = saved.catch(() => {});
    return saved;
  };
  // Whoever cannot renew for a while may be two: the other has the word then.
  const renewal = setInterval(() => {
    update({}).catch((error: unknown) => {
      if (error instanceof VersionConflictError) lost.abort(error);
    });
  }, RENEW_MS).unref();
  try {
    const change = await work(current, input, { signal, requestId, update });
    await update({ ...change, isComplete: true, worker: null, failure: null });
  } catch (error) {
    if (error instanceof VersionConflictError || lost.signal.aborted) throw error;
    const isStopped = stopping.signal.aborted;
    if (!isStopped) logger.warn(`ingest.${what}.failed`, { error, id });
    const given: Partial<LeasedRecord> = { worker: null, ...(isStopped ? {} : { failure: failureOf(error) }) };
    await update(given as Partial<Record>);
  } finally {
    clearInterval(renewal);
  }
}

function failureOf(error: unknown): NonNullable<Leased['failure']> {
  if (isEngramError(error)) return { name: error.wireName, message: clientMessage(error) };
  return { name: 'CogneeSystemError', message: 'An unexpected error; see the log of ingest' };
}

import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { EventLog, LoggedEvent } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import type { IdSource, WallClock } from '../../ports/system.ts';
import { LeaseLostError } from '../../ports/work-queue.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import type { EventPublisher } from '../../storage/ports/event-publisher.ts';
import { createWakeUp } from '../async/wake-up.ts';
import { createErrorDeduplicator } from '../jobs/error-deduplicator.ts';
import { publishedEvents } from '../messaging/published-events.ts';
import { eventsCollection } from './event-log.ts';
import { createRelayPositions, type HeldPosition, type RelayPositions } from './relay-position.ts';

/**
 * Publishes the event log (the relay of a transactional outbox), at least once and in order. One of the processes works, under a
 * lease; it begins after the last acknowledged event, so the next process publishes again what the one before left open. While
 * the broker is unavailable the events stay in the log, without a limit of time.
 */
export type EventRelay = ReturnType<typeof createEventRelay>;

export interface EventRelaySettings {
  /** Key of the position; relays to different brokers have different names. */
  readonly name: string;
  /** Events that are read and acknowledged together, and published again after a crash. */
  readonly batchSize: number;
  /** Interval of reading a log without new events. */
  readonly pollMs: number;
  /** Longer than a publication may take: a lost lease is noticed only after it. */
  readonly leaseMs: number;
  /** Pause after the first failure, doubled with each, and its maximum. */
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
  readonly drainMs: number;
}

const DEFAULT_RELAY_SETTINGS: EventRelaySettings = {
  name: 'kafka',
  batchSize: 500,
  pollMs: 500,
  leaseMs: 45_000,
  backOffMs: 1_000,
  maxBackOffMs: 30_000,
  drainMs: 5_000,
};

interface EventRelayDependencies {
  readonly store: DocumentStore;
  readonly eventLog: EventLog;
  readonly publisher: EventPublisher;
  readonly clock: WallClock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly metrics: { eventsRelayed(type: string, count: number): void };
  readonly settings?: Partial<EventRelaySettings>;
}

/** `eventsCollection` and `relayPositionsCollection` must be prepared. */
export function createEventRelay(dependencies: EventRelayDependencies) {
  const { store, eventLog, clock, ids, logger } = dependencies;
  const settings = { ...DEFAULT_RELAY_SETTINGS, ...dependencies.settings };
  const { name, leaseMs } = settings;
  const positions = createRelayPositions({ store, clock, name, holder: ids.uuid(), leaseMs });
  const stopping = new AbortController();
  const givingUp = new AbortController();
  const faults = createFaultLog(logger, settings);
  const wakeUp = createWakeUp();
  let held: HeldPosition | null = null;
  let loop: Promise<void> = Promise.resolve();

  const release = async (): Promise<void> => {
    const position = held;
    held = null;
    // The store is unavailable, or another process holds it: the lease ends by itself.
    await position?.release().catch((error: unknown) => logger.debug('relay.release.failed', { relay: name, error }));
  };
  /** Returns how long to wait before the next one. */
  const turn = async (): Promise<number> => {
    if (held === null) {
      held = await positions.claim();
      if (held === null) return Math.min(settings.pollMs * 10, leaseMs / 2);
      logger.info('relay.holding', { relay: name, offset: held.offset });
    }
    const published = await publishNext({ ...dependencies, batchSize: settings.batchSize }, held, givingUp.signal);
    faults.recovered(held.offset);
    return published === settings.batchSize ? 0 : settings.pollMs;
  };
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let waitMs: number;
      try {
        waitMs = await turn();
      } catch (error) {
        if (givingUp.signal.aborted) break;
        waitMs = error instanceof LeaseLostError ? settings.pollMs : faults.failed(error, held?.offset ?? null);
        // Another process may reach the broker, or know the event, where this one does not.
        await release();
      }
      if (waitMs > 0) await wakeUp.wait(waitMs, stopping.signal);
    }
    await release();
  };
  return {
    start() {
      loop = work();
    },
    /** Ends the batch under way, or gives it up after `drainMs`, and lets another process go on at once. Never throws. */
    async stop() {
      stopping.abort();
      const timer = setTimeout(() => givingUp.abort(), settings.drainMs);
      await loop;
      clearTimeout(timer);
    },
    /** Returns the lag of the publication, whichever process publishes. */
    lag: () => readLag(store, eventLog, positions, clock),
  };
}

/** Returns how many events of the log were published. */
async function publishNext(
  { eventLog, publisher, metrics, batchSize }: EventRelayDependencies & { readonly batchSize: number },
  position: HeldPosition,
  signal: AbortSignal,
): Promise<number> {
  const events = await eventLog.read(SYSTEM_SCOPE, { after: position.offset, limit: batchSize });
  const last = events.at(-1);
  if (last === undefined) {
    await position.keep();
    return 0;
  }
  for await (const batch of publishedEvents(eventLog, events)) {
    await publisher.publish(batch, signal);
    await position.keep();
  }
  await position.advance(last.offset);
  for (const [type, count] of countsByType(events)) metrics.eventsRelayed(type, count);
  return events.length;
}

function countsByType(events: readonly LoggedEvent[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

function createFaultLog(logger: Logger, { name, backOffMs, maxBackOffMs }: EventRelaySettings) {
  let failures = 0;
  const faults = createErrorDeduplicator();
  return {
    /** Returns the pause. A persisting error is logged once, and once when it is over. */
    failed(error: unknown, offset: number | null) {
      const waitMs = Math.min(maxBackOffMs, backOffMs * 2 ** Math.min(failures, 20));
      failures += 1;
      if (faults.isNew(error)) logger.error('relay.failed', { relay: name, offset, error, retryInMs: waitMs });
      // Jitter, so that replicas do not retry together.
      return waitMs * (0.75 + Math.random() / 4);
    },
    recovered(offset: number) {
      if (failures > 0) logger.info('relay.recovered', { relay: name, offset, failures });
      failures = 0;
      faults.forget();
    },
  };
}

async function readLag(store: DocumentStore, eventLog: EventLog, positions: RelayPositions, clock: WallClock) {
  const offset = await positions.offset();
  const [oldest] = await eventLog.read(SYSTEM_SCOPE, { after: offset, limit: 1 });
  if (oldest === undefined) return { events: 0, seconds: 0 };
  const { items } = await store.find(SYSTEM_SCOPE, eventsCollection, {
    sort: [{ field: 'sequence', descending: true }],
    limit: 1,
  });
  const seconds = Math.max(0, (clock.now().getTime() - Date.parse(oldest.occurredAt)) / 1000);
  return { events: (items[0]?.sequence ?? oldest.offset) - offset, seconds };
}

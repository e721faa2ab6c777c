import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { WallClock } from '../../ports/system.ts';
import { LeaseLostError } from '../../ports/work-queue.ts';
import { type DocumentStore, DuplicateKeyError, insert, type Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { nullIf } from '../async/null-if.ts';

import { FREE, isLeased, leasesOf } from '../leases/lease.ts';

/** The position of a relay in the event log, and the process that holds it. The id is the relay's name. */
type RelayPosition = {
  /** Offset of the last event that was published. */
  readonly offset: number;
  readonly holder: string | null;
  readonly leaseUntilMs: number;
  readonly fencingToken: number;
};

export const relayPositionsCollection: OwnedCollection<RelayPosition> = {
  name: 'relay_positions',
  level: 'system',
  owner: 'platform',
  readers: ['ingest'],
  belongsTo: 'system',
  indexes: [],
};

const leases = leasesOf(relayPositionsCollection, { holder: 'holder', leasedUntilMs: 'leaseUntilMs', fence: 'token' });

/** The position while this process holds it. Changes throw `LeaseLostError` once another process does. */
export type HeldPosition = ReturnType<typeof held>;

export type RelayPositions = ReturnType<typeof createRelayPositions>;

interface RelayPositionOptions {
  readonly store: DocumentStore;
  readonly clock: WallClock;
  readonly name: string;
  /** A unique name of this process. */
  readonly holder: string;
  readonly leaseMs: number;
}

export function createRelayPositions(options: RelayPositionOptions) {
  const { store, clock, name, holder, leaseMs } = options;
  const read = () => store.get(SYSTEM_SCOPE, relayPositionsCollection, name);
  return {
    /** Resolves to null while another process holds it. */
    async claim() {
      const found = (await read()) ?? (await begin(store, name));
      const nowMs = clock.now().getTime();
      if (found === null || (found.value.holder !== holder && isLeased(leases.of(found.value), nowMs))) return null;
      const claim = leases.claimWrite(name, found.value, { holder, leasedUntilMs: nowMs + leaseMs });
      const [result] = await store.commit(SYSTEM_SCOPE, [claim]);
      return result?.stored ? held(options, result.stored.value as RelayPosition) : null;
    },
    /** 0 before the first claim. */
    offset: async () => (await read())?.value.offset ?? 0,
  };
}

/** Inserts the position; null when another process was faster, and the next claim finds it. */
async function begin(store: DocumentStore, name: string): Promise<Stored<RelayPosition> | null> {
  const fresh: RelayPosition = { offset: 0, holder: null, leaseUntilMs: 0, fencingToken: 0 };
  const commit = store.commit(SYSTEM_SCOPE, [insert(relayPositionsCollection, name, fresh)]);
  const [result] = (await nullIf((error) => error instanceof DuplicateKeyError, commit)) ?? [];
  return (result?.stored ?? null) as Stored<RelayPosition> | null;
}

function held({ store, clock, name, holder, leaseMs }: RelayPositionOptions, claimed: RelayPosition) {
  const { fencingToken } = claimed;
  let { offset, leaseUntilMs: leasedUntilMs } = claimed;
  const change = async (set: Partial<RelayPosition>): Promise<void> => {
    const [result] = await store.commit(SYSTEM_SCOPE, [leases.heldWrite(name, fencingToken, { set })]);
    if (!result?.stored) throw new LeaseLostError(`the relay ${name} is not held by ${holder} any more`);
  };
  const extend = async (set: Partial<RelayPosition>): Promise<void> => {
    const until = clock.now().getTime() + leaseMs;
    await change({ ...set, ...leases.spelled({ leasedUntilMs: until }) });
    leasedUntilMs = until;
  };
  return {
    get offset() {
      return offset;
    },
    async advance(to: number) {
      await extend({ offset: to });
      offset = to;
    },
    /** Extends the lease when a third of it is over. */
    async keep() {
      if (clock.now().getTime() > leasedUntilMs - (leaseMs * 2) / 3) await extend({});
    },
    release: () => change(leases.spelled(FREE)),
  };
}

/** Returns the offset up to which every relay has published; 0 before the first one has begun. */
export async function publishedOffset(store: DocumentStore): Promise<number> {
  const { items } = await store.find(SYSTEM_SCOPE, relayPositionsCollection, { limit: 1000 });
  return items.length === 0 ? 0 : Math.min(...items.map(({ value }) => value.offset));
}

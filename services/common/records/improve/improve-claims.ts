import { type SessionKey, sessionDocumentId } from '../../domain/session.ts';
import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { ignoreConflict, retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import { isLeased, leasesOf } from '../../platform/leases/lease.ts';
import {
  type DocumentStore,
  insert,
  remove,
  type Stored,
  update,
  VersionConflictError,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

type ClaimDocument = {
  /** Holder; an id that is never used again, so that it fences off former holders. */
  readonly owner: string;
  /** Whoever holds it shows a sign of life before; later it is free. Milliseconds since 1970. */
  readonly leaseUntilMs: number;
  /** Another improve asked for the session meanwhile. */
  readonly rerunWanted: boolean;
  /** Former holder that it was seized from, until that one has stopped; null or absent: none. */
  readonly seizedFrom?: string | null;
  /** When the lease of the former holder ends. */
  readonly seizedUntilMs?: number;
};

/** Datasets and sessions that improve works on, of every tenant: the workers of all processes exclude each other by them. */
export const improveClaimsCollection: OwnedCollection<ClaimDocument> = {
  name: 'improve_claims',
  level: 'system',
  owner: 'improve',
  readers: ['cognify'],
  belongsTo: 'system',
  indexes: [{ fields: ['leaseUntilMs'] }],
};

/** Keys that one improve claims. */
export interface ClaimedKeys {
  readonly dataset: string;
  readonly sessions: readonly string[];
}

export function claimKeys(tenant: TenantId, dataset: DatasetId, sessions: readonly SessionKey[]): ClaimedKeys {
  const keys = sessions.map((session) => `session:${tenant}:${sessionDocumentId(session)}`);
  return { dataset: datasetKey(dataset), sessions: [...new Set(keys)] };
}

function datasetKey(dataset: DatasetId): string {
  return `dataset:${dataset}`;
}

/** From when a claim is leased, and for how long. */
interface LeaseTerm {
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** Holder id of an improve with its first worker (0) or a later one. */
export function ownerOf(improve: string, worker: number): string {
  return `${improve}#${worker}`;
}

const ERASURE = 'erasure:';

/** The holder that an erasure of the dataset has; two of them are no hindrance to each other. */
export function eraserOf(erasure: string): string {
  return `${ERASURE}${erasure}`;
}

function isSameImprove(one: string, other: string): boolean {
  return one.split('#')[0] === other.split('#')[0];
}

const collection = improveClaimsCollection;
const leases = leasesOf(collection, { holder: 'owner', leasedUntilMs: 'leaseUntilMs', fence: 'holder' });

export type ImproveClaims = ReturnType<typeof createImproveClaims>;

/** Claims with lease and owner: all keys or none; what a dead holder claimed lapses; only the holder releases. */
export function createImproveClaims(store: DocumentStore) {
  return {
    /**
     * False when another owner holds any of them. Free keys lose the marks that were left on them. An owner that is named
     * after the present one, `ownerOf` of the same improve, takes over from it at once, with the marks.
     */
    claim: (keys: ClaimedKeys, owner: string, lease: LeaseTerm) =>
      repeated(() => claimAll(store, allOf(keys), owner, lease)),
    /** False when it is not held any more: nothing may be written then. */
    extend: (keys: ClaimedKeys, owner: string, lease: LeaseTerm) => extendAll(store, allOf(keys), owner, lease),
    /** Whether the owner holds the dataset, by a lease that is not over: for services that write at its request. */
    async holds(dataset: DatasetId, owner: string, nowMs: number): Promise<boolean> {
      const present = await claimOf(store, dataset);
      return present !== undefined && present.value.owner === owner && isLeased(leases.of(present.value), nowMs);
    },
    /** Asks the holders of the sessions for one more pass. Returns how many are held. */
    async wantRerun({ sessions }: ClaimedKeys, nowMs: number): Promise<number> {
      if (sessions.length === 0) return 0;
      const mark = (id: string) =>
        update(collection, id, { where: { leaseUntilMs: { greaterThan: nowMs } }, set: { rerunWanted: true } });
      const results = await store.commit(SYSTEM_SCOPE, sessions.map(mark));
      return results.filter(({ changed }) => changed > 0).length;
    },
    /**
     * Decides in one commit: when another pass was requested, the request is consumed and all keys stay; else all are released.
     * `lost`: not held any more.
     */
    rerunOrRelease: (keys: ClaimedKeys, owner: string) => repeated(() => rerunOrReleaseAll(store, keys, owner)),
    /** By a holder that has stopped, whether it holds them still or not. */
    release: (keys: ClaimedKeys, owner: string) => releaseKeys(store, keys, owner),
    /** For an erasure: takes the dataset from its holder, which notices soon. `hasLeft` says when that one has stopped. */
    seize: (dataset: DatasetId, owner: string, lease: LeaseTerm) =>
      repeated(() => seizeDataset(store, dataset, owner, lease)),
    /** Whether the former holder has stopped: it said so, or its lease has ended. */
    async hasLeft(dataset: DatasetId, owner: string, nowMs: number): Promise<boolean> {
      const present = await claimOf(store, dataset);
      if (present === undefined || present.value.owner !== owner) return true;
      const { seizedFrom = null, seizedUntilMs = 0 } = present.value;
      return seizedFrom === null || seizedUntilMs <= nowMs;
    },
    /** For a process that has the store alone: every former holder is dead. */
    releaseAll: () => removeEvery(store),
  };
}

type StoredClaim = Stored<ClaimDocument>;

async function claimOf(store: DocumentStore, dataset: DatasetId): Promise<StoredClaim | undefined> {
  const [present] = await store.getMany(SYSTEM_SCOPE, collection, [datasetKey(dataset)]);
  return present;
}

/** Fails the commit when another holder has it. */
function changeOfHeld(id: string, owner: string, set: Partial<ClaimDocument> = {}): Write {
  return leases.heldWrite(id, owner, { set, required: true });
}

async function claimAll(store: DocumentStore, ids: readonly string[], owner: string, { nowMs, leaseMs }: LeaseTerm) {
  const stored = await store.getMany(SYSTEM_SCOPE, collection, ids);
  const isTaken = (claim: StoredClaim) =>
    !isSameImprove(claim.value.owner, owner) && isLeased(leases.of(claim.value), nowMs);
  if (stored.some(isTaken)) return false;
  const present = new Map(stored.map(({ id, value }) => [id, value]));
  const leaseUntilMs = nowMs + leaseMs;
  const writes = ids.map((id) => {
    const known = present.get(id);
    if (known === undefined) return insert(collection, id, { owner, leaseUntilMs, rerunWanted: false });
    const isOwn = isSameImprove(known.owner, owner);
    const set = { seizedFrom: null, ...(isOwn ? {} : { rerunWanted: false }) };
    return leases.claimWrite(id, known, { holder: owner, leasedUntilMs: leaseUntilMs }, { set, required: true });
  });
  await store.commit(SYSTEM_SCOPE, writes);
  return true;
}

async function extendAll(store: DocumentStore, ids: readonly string[], owner: string, { nowMs, leaseMs }: LeaseTerm) {
  const writes = ids.map((id) => changeOfHeld(id, owner, { leaseUntilMs: nowMs + leaseMs }));
  return ignoreConflict(store.commit(SYSTEM_SCOPE, writes));
}

async function rerunOrReleaseAll(store: DocumentStore, keys: ClaimedKeys, owner: string) {
  const all = allOf(keys);
  // Mostly no rerun was requested.
  if (await releaseUnwanted(store, keys, owner)) return 'released';
  const own = (await store.getMany(SYSTEM_SCOPE, collection, all)).filter(({ value }) => value.owner === owner);
  if (own.length < all.length) return 'lost';
  const wanted = own.filter(({ value }) => value.rerunWanted);
  if (wanted.length === 0) throw new VersionConflictError(collection.name, keys.dataset);
  await store.commit(
    SYSTEM_SCOPE,
    wanted.map(({ id }) => changeOfHeld(id, owner, { rerunWanted: false })),
  );
  return 'rerun';
}

/** All keys, if they are held and no rerun was requested. */
async function releaseUnwanted(store: DocumentStore, keys: ClaimedKeys, owner: string): Promise<boolean> {
  const unwanted = (id: string) =>
    leases.heldWrite(id, owner, { where: { rerunWanted: false }, set: {}, required: true });
  return ignoreConflict(
    store.commit(SYSTEM_SCOPE, [
      ...keys.sessions.map(unwanted),
      changeOfHeld(keys.dataset, owner),
      ...allOf(keys).map((id) => remove(collection, id)),
    ]),
  );
}

async function releaseKeys(store: DocumentStore, { dataset, sessions }: ClaimedKeys, owner: string): Promise<void> {
  for (const id of sessions) await releaseOne(store, id, owner);
  if (await releaseOne(store, dataset, owner)) return;
  // Seized, perhaps unnoticed: the erasure of the dataset waits until its holder has stopped.
  await store.commit(SYSTEM_SCOPE, [
    update(collection, dataset, { where: { seizedFrom: owner }, set: { seizedFrom: null } }),
  ]);
}

async function seizeDataset(store: DocumentStore, dataset: DatasetId, owner: string, { nowMs, leaseMs }: LeaseTerm) {
  const id = datasetKey(dataset);
  const leaseUntilMs = nowMs + leaseMs;
  const present = await claimOf(store, dataset);
  if (present === undefined) {
    await store.commit(SYSTEM_SCOPE, [insert(collection, id, { owner, leaseUntilMs, rerunWanted: false })]);
    return;
  }
  const { owner: holder, leaseUntilMs: heldUntilMs, seizedFrom = null, seizedUntilMs = 0 } = present.value;
  const isHeld = isLeased(leases.of(present.value), nowMs) && !holder.startsWith(ERASURE);
  const set = isHeld ? { seizedFrom: holder, seizedUntilMs: heldUntilMs } : { seizedFrom, seizedUntilMs };
  const lease = { holder: owner, leasedUntilMs: leaseUntilMs };
  await store.commit(SYSTEM_SCOPE, [leases.claimWrite(id, present.value, lease, { set, required: true })]);
}

async function removeEvery(store: DocumentStore): Promise<void> {
  for (;;) {
    const { items } = await store.find(SYSTEM_SCOPE, collection, { limit: 1000 });
    if (items.length === 0) return;
    await store.commit(
      SYSTEM_SCOPE,
      items.map(({ id }) => remove(collection, id)),
    );
  }
}

/** The dataset's first: two improves of one dataset meet at it, whatever sessions they have. */
function allOf({ dataset, sessions }: ClaimedKeys): readonly string[] {
  return [dataset, ...sessions];
}

/** False for a key that another holder has by now; it stays as it is. */
function releaseOne(store: DocumentStore, id: string, owner: string): Promise<boolean> {
  return ignoreConflict(store.commit(SYSTEM_SCOPE, [changeOfHeld(id, owner), remove(collection, id)]));
}

const MAX_RACES = 50;

/** Others claim, mark and release meanwhile. */
function repeated<Result>(attempt: () => Promise<Result>): Promise<Result> {
  return retryOnConflict(attempt, { attempts: MAX_RACES });
}

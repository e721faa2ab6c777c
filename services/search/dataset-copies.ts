import { setTimeout as sleep } from 'node:timers/promises';
import type { DataItemId } from '../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { type DatasetScope, datasetScope } from '../common/kernel/scope.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Clock } from '../common/ports/system.ts';
import { type DatasetChanges, datasetChanges } from '../common/records/cognify/dataset-changes.ts';
import type { CommittedBuild, Ledger } from '../common/records/cognify/ledger.ts';
import type { Supersessions } from '../common/records/cognify/supersessions.ts';
import type { ActiveVectorVersion, VectorIndexVersions } from '../common/records/cognify/vector-index-versions.ts';
import type { CopyLease, DatasetCopyLeases } from '../common/records/search/dataset-copies.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { CopiedGraphReads } from '../common/storage/ports/graph-store.ts';
import type { CopyOptions, IndexCopy } from '../common/storage/ports/index-entry.ts';
import type { CopiedTextReads } from '../common/storage/ports/text-index.ts';
import type { CopiedVectorReads } from '../common/storage/ports/vector-index.ts';
import { supersessionsAhead } from './retrieval/read-ahead.ts';
import type { ReadsHere, RetrievalDependencies } from './retrieval/retrieval.ts';

export interface DatasetCopiesOptions {
  /** The servers. */
  readonly from: IndexStores;
  readonly maxBytes: number;
  readonly store: Pick<DocumentStore, 'countChanges'>;
  readonly ledger: Pick<Ledger, 'committed' | 'committedBuilds'>;
  readonly supersessions: Supersessions;
  readonly vectorVersions: Pick<VectorIndexVersions, 'active' | 'scopeOf'>;
  readonly leases: Pick<DatasetCopyLeases, 'hold'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A dataset is copied when it is searched for the third time in so long. */
const SEARCHES_BEFORE = 3;
const SEARCHED_WITHIN_MS = 5 * 60_000;
/** The ledger of a copied dataset is read whole, in one page, when it has changed; that it has not takes the server 1.5 µs for each. */
const MAX_ITEMS = 900;
/** Each renews its lease. */
const MAX_COPIES = 16;
/** A chunk takes more, with the entities and edges around it. */
const BYTES_PER_CHUNK = 2_000;
/** Datasets whose searches are counted. */
const MAX_COUNTED = 1000;
/** A generation is copied when it has been there for so long: servers may be read from replicas that lag behind. */
const SETTLED_MS = 2_000;
/** A copy that nobody searched for so long is dropped. */
const IDLE_MS = 2 * 60_000;
const SWEEP_MS = 5_000;
/** Until a dataset that is too large, or could not be copied, is looked at again. */
const PAUSE_MS = 10 * 60_000;
/** Copying a dataset that changes takes a twentieth of the time at most. */
const PAUSE_TIMES = 20;

type Builds = ReadonlyMap<DataItemId, CommittedBuild>;

interface Copy {
  readonly scope: DatasetScope;
  readonly lease: CopyLease;
  /** Aborted once the copy may not be kept. */
  readonly signal: AbortSignal;
  /** Null in a copy that was dropped. Searches under way may still know it, or one before. */
  state: CopiedState | null;
  usedMs: number;
  /** Searches read the stores. */
  isBehind: boolean;
  isUpdating: boolean;
  /** It is not brought up to date again before. */
  notBeforeMs: number;
  released: Promise<void> | null;
}

/** What a copy has of the dataset as it was at one moment. */
interface CopiedState {
  readonly builds: Builds;
  /** When the ledger was found to name `builds`, and before `vectorVersion` was read. */
  changes: Omit<DatasetChanges, 'hasSupersessions'>;
  readonly vectorVersion: ActiveVectorVersion;
  /** Null where a call of the store costs no trip. */
  text: IndexCopy<CopiedTextReads> | null;
  graph: IndexCopy<CopiedGraphReads> | null;
  /** Null, too, where they take too much memory. */
  vectors: IndexCopy<CopiedVectorReads> | null;
  readonly bytes: number;
}

export type DatasetCopies = ReturnType<typeof createDatasetCopies>;

/** What a search of copied datasets reads. */
export interface CopiedDatasets extends ReadsHere {
  readonly vectorVersions: RetrievalDependencies['vectorVersions'];
}

/**
 * Copies of small datasets in the memory of this process, which searches read in place of servers. Rows of a committed generation
 * never change, so a copy is up to date when the ledger names the generations that it has: each search asks whether the ledger
 * has changed, and reads it when it has. The same read says whether other vectors are active and whether any statement is superseded.
 * When the ledger names other generations, the copy is brought up to date with those while searches read the servers.
 */
export function createDatasetCopies(options: DatasetCopiesOptions) {
  const { maxBytes, store, ledger, clock, logger } = options;
  const copies = new Map<string, Copy>();
  const stopping = new AbortController();
  const drop = (key: string, copy: Copy) => {
    if (copies.get(key) === copy) copies.delete(key);
    putState(copy, null);
    copy.released ??= copy.lease
      .release()
      .catch((error: unknown) => logger.warn('search.copy.not_released', { error }));
    return copy.released;
  };
  const makeRoom = (copy: Copy | null, bytes: number) => {
    const others = [...copies].filter(([, other]) => other !== copy).sort(([, a], [, b]) => a.usedMs - b.usedMs);
    let total = others.reduce((sum, [, { state }]) => sum + (state?.bytes ?? 0), bytes);
    for (const [at, [key, other]] of others.entries()) {
      if (others.length - at < MAX_COPIES && total <= maxBytes) return;
      total -= other.state?.bytes ?? 0;
      void drop(key, other);
    }
  };
  const making = createMaking(options, copies, { drop, makeRoom }, stopping.signal);
  const updateLater = createUpdates(options, { drop, makeRoom });
  const hasItsBuilds = async (copy: Copy, state: CopiedState, { ledger: changes }: DatasetChanges) => {
    if (changes === state.changes.ledger) return true;
    if (!isSame(state.builds, await ledger.committedBuilds(copy.scope, MAX_ITEMS))) return false;
    state.changes = { ...state.changes, ledger: changes };
    return true;
  };
  const current = async (key: string, scope: DatasetScope): Promise<CurrentCopy | null> => {
    const copy = copies.get(key);
    if (copy === undefined) return null;
    copy.usedMs = clock.monotonicMs();
    const { state } = copy;
    if (copy.isBehind) updateLater(key, copy);
    if (copy.isBehind || state === null) return null;
    const changes = await datasetChanges(store, scope);
    const isUpToDate = await hasItsBuilds(copy, state, changes);
    if (copy.state !== state) return null;
    if (!copy.lease.isHeld()) void drop(key, copy);
    else if (!isUpToDate) updateLater(key, copy);
    if (copy.state === null || copy.isBehind) return null;
    // A version keeps its space as long as the items are those that were built into it.
    const { vectorVersion } = state;
    const hasItsVectors = changes.vectorVersions === state.changes.vectorVersions && vectorVersion.space !== null;
    return { copy, state, changes, hasItsVectors };
  };
  const sweep = setInterval(() => {
    const idleSince = clock.monotonicMs() - IDLE_MS;
    for (const [key, copy] of copies) if (copy.usedMs < idleSince) void drop(key, copy);
  }, SWEEP_MS).unref();
  return {
    /** What a search of the datasets reads: of copies, and the rest of the servers. Null: no copy is up to date. */
    async of(datasets: readonly DatasetRef[]): Promise<CopiedDatasets | null> {
      const found = new Map<string, CurrentCopy>();
      await Promise.all(
        datasets.map(async (dataset) => {
          const scope = scopeOf(dataset);
          const copy = await current(keyOf(scope), scope);
          if (copy !== null) found.set(keyOf(scope), copy);
          else if (!copies.has(keyOf(scope))) making.note(keyOf(scope), scope);
        }),
      );
      return found.size === 0 ? null : readsOf(found, options);
    },
    /** Drops every copy, and makes no more. */
    async stop(): Promise<void> {
      stopping.abort();
      clearInterval(sweep);
      await making.settled();
      await Promise.all([...copies].map(([key, copy]) => drop(key, copy)));
    },
  };
}

/** What copies are changed by. */
interface CopyChanges {
  drop(key: string, copy: Copy): Promise<void>;
  /** Drops copies that were used least recently, other than this one, until there is room for so many bytes. */
  makeRoom(copy: Copy | null, bytes: number): void;
}

/** Searches under way no longer read the former state. */
function putState(copy: Copy, state: CopiedState | null): void {
  if (copy.state !== null) Object.assign(copy.state, { text: null, graph: null, vectors: null });
  copy.state = state;
}

/** Makes copies of datasets that are searched repeatedly, one at a time. */
function createMaking(
  options: DatasetCopiesOptions,
  copies: Map<string, Copy>,
  { drop, makeRoom }: CopyChanges,
  stopping: AbortSignal,
) {
  const { maxBytes, ledger, leases, clock, logger } = options;
  const counted = new Map<string, { sinceMs: number; searches: number; notBeforeMs: number }>();
  let making: Promise<void> | null = null;
  const make = async (key: string, scope: DatasetScope): Promise<number> => {
    // Datasets that are too large cost no more than this.
    if (!isSmall(await ledger.committedBuilds(scope, MAX_ITEMS), maxBytes)) return PAUSE_MS;
    const startedMs = clock.monotonicMs();
    const barred = new AbortController();
    const signal = AbortSignal.any([barred.signal, stopping]);
    const lease = await leases.hold(scope, () => {
      barred.abort();
      const copy = copies.get(key);
      if (copy?.lease === lease) void drop(key, copy);
    });
    let state: CopiedState | number = PAUSE_MS;
    try {
      state = await readState(options, { scope, signal, lease }, null);
      if (typeof state === 'number') return state;
      makeRoom(null, state.bytes);
      const now = clock.monotonicMs();
      const pauseMs = PAUSE_TIMES * (now - startedMs);
      const copy = { scope, lease, signal, state, usedMs: now, notBeforeMs: 0, released: null };
      copies.set(key, { ...copy, isBehind: false, isUpdating: false });
      return pauseMs;
    } finally {
      if (typeof state === 'number') await lease.release();
    }
  };
  return {
    /** Notes a search without a copy, and makes one when that is worth it. */
    note(key: string, scope: DatasetScope): void {
      const now = clock.monotonicMs();
      let known = counted.get(key);
      if (known === undefined || now - known.sinceMs > SEARCHED_WITHIN_MS) {
        if (counted.size >= MAX_COUNTED) counted.clear();
        known = { sinceMs: now, searches: 0, notBeforeMs: known?.notBeforeMs ?? 0 };
        counted.set(key, known);
      }
      const one = known;
      one.searches += 1;
      if (one.searches < SEARCHES_BEFORE || making !== null || now < one.notBeforeMs || stopping.aborted) return;
      const pause = (ms: number) => {
        making = null;
        one.notBeforeMs = clock.monotonicMs() + ms;
      };
      making = make(key, datasetScope(scope.tenant, scope.dataset)).then(pause, (error: unknown) => {
        logger.warn('search.copy.failed', { dataset: scope.dataset, error });
        pause(PAUSE_MS);
      });
    },
    settled: async () => void (await making),
  };
}

/** Returns what brings a copy up to date in the background, which is behind from now on. */
function createUpdates(options: DatasetCopiesOptions, { drop, makeRoom }: CopyChanges) {
  const { clock, logger } = options;
  /** Brings a copy up to date, once the newest generation has settled; drops one of which that is not possible. */
  const update = async (key: string, copy: Copy): Promise<void> => {
    for (;;) {
      const startedMs = clock.monotonicMs();
      const state = await readState(options, copy, copy.state);
      if (state === PAUSE_MS || copy.state === null) return void drop(key, copy);
      const now = clock.monotonicMs();
      copy.notBeforeMs = now + PAUSE_TIMES * (now - startedMs);
      if (state === 0) return;
      if (typeof state !== 'number') {
        makeRoom(copy, state.bytes);
        putState(copy, state);
        copy.isBehind = false;
        return;
      }
      await sleep(state, undefined, { signal: copy.signal, ref: false });
    }
  };
  return (key: string, copy: Copy): void => {
    copy.isBehind = true;
    if (copy.isUpdating || clock.monotonicMs() < copy.notBeforeMs) return;
    copy.isUpdating = true;
    void update(key, copy)
      .catch((error: unknown) => {
        if (!copy.signal.aborted) logger.warn('search.copy.failed', { dataset: copy.scope.dataset, error });
        void drop(key, copy);
      })
      .then(() => {
        copy.isUpdating = false;
      });
  };
}

/**
 * Reads what the ledger names now; of `before`, if there is one, what has not changed is kept. A number: how many milliseconds
 * later to try again.
 */
async function readState(
  { from, maxBytes, store, ledger, vectorVersions, clock }: DatasetCopiesOptions,
  { scope, signal, lease }: Pick<Copy, 'scope' | 'signal' | 'lease'>,
  before: CopiedState | null,
): Promise<CopiedState | number> {
  const changes = await datasetChanges(store, scope);
  const builds = await ledger.committedBuilds(scope, MAX_ITEMS);
  if (!isSmall(builds, maxBytes)) return PAUSE_MS;
  const newest = Math.max(...[...builds.values()].map(({ committedAt }) => Date.parse(committedAt)));
  const age = clock.now().getTime() - newest;
  if (age < SETTLED_MS) return Math.min(SETTLED_MS, SETTLED_MS - age);
  const vectorVersion = await vectorVersions.active(scope);
  const committed = new Map([...builds].map(([item, { generation }]) => [item, generation]));
  const copy = { committed, signal };
  const text = await copied(from.text, scope, { ...copy, maxBytes }, before?.text);
  const textBytes = text?.bytes ?? 0;
  const graph = await copied(from.graph, scope, { ...copy, maxBytes: maxBytes - textBytes }, before?.graph);
  if ((from.text.copy && text === null) || (from.graph.copy && graph === null)) return PAUSE_MS;
  const bytes = textBytes + (graph?.bytes ?? 0);
  const isSameVersion = before?.vectorVersion.number === vectorVersion.number;
  const known = isSameVersion ? before?.vectors : null;
  const vectors = await copied(from.vectors, vectorVersion.scope, { ...copy, maxBytes: maxBytes - bytes }, known);
  if (!isSame(builds, await ledger.committedBuilds(scope, MAX_ITEMS)) || signal.aborted || !lease.isHeld()) return 0;
  return { builds, changes, vectorVersion, text, graph, vectors, bytes: bytes + (vectors?.bytes ?? 0) };
}

async function copied<Reads>(
  from: { readonly copy?: (scope: DatasetScope, options: CopyOptions) => Promise<IndexCopy<Reads> | null> },
  scope: DatasetScope,
  options: CopyOptions,
  before: IndexCopy<Reads> | null = null,
): Promise<IndexCopy<Reads> | null> {
  return (await (before === null ? from.copy?.(scope, options) : before.updated(options))) ?? null;
}

function isSmall(builds: Builds | null, maxBytes: number): builds is Builds {
  if (builds === null || builds.size === 0) return false;
  return [...builds.values()].reduce((sum, { chunks }) => sum + chunks, 0) * BYTES_PER_CHUNK <= maxBytes;
}

/** A copy that is up to date. */
interface CurrentCopy {
  readonly copy: Copy;
  readonly state: CopiedState;
  readonly changes: DatasetChanges;
  /** Else other vectors are active, or may be: they are to be asked for. */
  readonly hasItsVectors: boolean;
}

function readsOf(found: ReadonlyMap<string, CurrentCopy>, options: DatasetCopiesOptions): CopiedDatasets {
  const { from, ledger, vectorVersions, supersessions } = options;
  const isHeld = ({ copy, state }: CurrentCopy) => copy.state === state && copy.lease.isHeld();
  const stateOf = (scope: DatasetScope) => {
    const current = found.get(keyOf(scope));
    return current !== undefined && isHeld(current) ? current.state : null;
  };
  const { text, vectors, graph } = from;
  const textOf = (scope: DatasetScope): CopiedTextReads => stateOf(scope)?.text?.reads ?? text;
  const graphOf = (scope: DatasetScope) => stateOf(scope)?.graph?.reads ?? graph;
  /** By the scope of their version. */
  const withVectors = new Map(
    [...found.values()].flatMap((current) =>
      current.hasItsVectors ? [[keyOf(current.state.vectorVersion.scope), current] as const] : [],
    ),
  );
  const vectorsOf = (version: DatasetScope): CopiedVectorReads => {
    const current = withVectors.get(keyOf(version));
    return (current !== undefined && isHeld(current) ? current.state.vectors?.reads : null) ?? vectors;
  };
  const { pathsOver } = graph;
  return {
    indexes: {
      text: {
        ...text,
        candidates: (scope, ...rest) => textOf(scope).candidates(scope, ...rest),
        fetch: (scope, ...rest) => textOf(scope).fetch(scope, ...rest),
        fetchCandidates: (scope, ...rest) => textOf(scope).fetchCandidates(scope, ...rest),
        list: (scope, ...rest) => textOf(scope).list(scope, ...rest),
      },
      vectors: { ...vectors, nearest: (version, ...rest) => vectorsOf(version).nearest(version, ...rest) },
      graph: {
        ...graph,
        neighbours: (scope, ...rest) => graphOf(scope).neighbours(scope, ...rest),
        ...(pathsOver && { pathsOver: (scope, ...rest) => (graphOf(scope).pathsOver ?? pathsOver)(scope, ...rest) }),
      },
    },
    ledger: {
      async committed(scope, items) {
        const builds = found.get(keyOf(scope))?.state.builds;
        if (builds === undefined) return ledger.committed(scope, items);
        const seen = items.filter((item) => builds.has(item) && scope.withheld?.has(item) !== true);
        return new Map(seen.map((item) => [item, builds.get(item)?.generation ?? 0]));
      },
    },
    supersessions: supersessionsAhead(
      supersessions,
      [...found.values()].map(({ copy, changes }) => ({ scope: copy.scope, hasAny: changes.hasSupersessions })),
    ),
    vectorVersions: {
      async active(scope) {
        const current = found.get(keyOf(scope));
        if (current?.hasItsVectors !== true) return vectorVersions.active(scope);
        const { vectorVersion } = current.state;
        return { ...vectorVersion, scope: vectorVersions.scopeOf(scope, vectorVersion.number) };
      },
    },
  };
}

function keyOf({ tenant, dataset }: DatasetScope): string {
  return `${tenant} ${dataset}`;
}

function isSame(builds: Builds, now: Builds | null): boolean {
  if (now === null || now.size !== builds.size) return false;
  return [...now].every(([item, { generation, committedAt }]) => {
    const known = builds.get(item);
    return known?.generation === generation && known.committedAt === committedAt;
  });
}

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
import type { CopiedTextReads } from '../common/storage/ports/text-index.ts';
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
  readonly builds: Builds;
  /** When the ledger was found to name `builds`, and before `vectors` were read. */
  changes: Omit<DatasetChanges, 'hasSupersessions'>;
  readonly vectors: ActiveVectorVersion;
  /** Null in a copy that was dropped, which searches under way may still know. */
  text: CopiedTextReads | null;
  graph: CopiedGraphReads | null;
  readonly bytes: number;
  readonly lease: CopyLease;
  usedMs: number;
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
 */
export function createDatasetCopies(options: DatasetCopiesOptions) {
  const { from, maxBytes, store, ledger, vectorVersions, leases, clock, logger } = options;
  const copies = new Map<string, Copy>();
  const stopping = new AbortController();
  const counted = new Map<string, { sinceMs: number; searches: number; notBeforeMs: number }>();
  /** The one copy that is being made. */
  let making: Promise<void> | null = null;
  const drop = (key: string, copy: Copy) => {
    if (copies.get(key) === copy) copies.delete(key);
    copy.text = null;
    copy.graph = null;
    return copy.lease.release().catch((error: unknown) => logger.warn('search.copy.not_released', { error }));
  };
  const dropOldest = (isEnough: () => boolean) => {
    for (const [key, copy] of [...copies].sort(([, a], [, b]) => a.usedMs - b.usedMs)) {
      if (isEnough()) return;
      void drop(key, copy);
    }
  };
  const total = () => [...copies.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const isSmall = (builds: Builds | null): builds is Builds =>
    builds !== null &&
    builds.size > 0 &&
    [...builds.values()].reduce((sum, { chunks }) => sum + chunks, 0) * BYTES_PER_CHUNK <= maxBytes;
  const make = async (key: string, scope: DatasetScope): Promise<number> => {
    // Datasets that are too large cost no more than this.
    if (!isSmall(await ledger.committedBuilds(scope, MAX_ITEMS))) return PAUSE_MS;
    const startedMs = clock.monotonicMs();
    const barred = new AbortController();
    const signal = AbortSignal.any([barred.signal, stopping.signal]);
    const lease = await leases.hold(scope, () => {
      barred.abort();
      const copy = copies.get(key);
      if (copy?.lease === lease) void drop(key, copy);
    });
    const read = async (): Promise<Copy | number> => {
      const changes = await datasetChanges(store, scope);
      const builds = await ledger.committedBuilds(scope, MAX_ITEMS);
      if (!isSmall(builds)) return PAUSE_MS;
      const newest = Math.max(...[...builds.values()].map(({ committedAt }) => Date.parse(committedAt)));
      if (clock.now().getTime() - newest < SETTLED_MS) return SETTLED_MS;
      const vectors = await vectorVersions.active(scope);
      const committed = new Map([...builds].map(([item, { generation }]) => [item, generation]));
      const text = (await from.text.copy?.(scope, { committed, maxBytes, signal })) ?? null;
      const left = maxBytes - (text?.bytes ?? 0);
      const graph = (await from.graph.copy?.(scope, { committed, maxBytes: left, signal })) ?? null;
      if ((from.text.copy && text === null) || (from.graph.copy && graph === null)) return PAUSE_MS;
      if (!isSame(builds, await ledger.committedBuilds(scope, MAX_ITEMS)) || signal.aborted || !lease.isHeld())
        return 0;
      const bytes = (text?.bytes ?? 0) + (graph?.bytes ?? 0);
      return {
        scope,
        builds,
        changes,
        vectors,
        text: text?.reads ?? null,
        graph: graph?.reads ?? null,
        bytes,
        lease,
        usedMs: clock.monotonicMs(),
      };
    };
    let made: Copy | number = PAUSE_MS;
    try {
      made = await read();
      if (typeof made === 'number') return made;
      const { bytes } = made;
      dropOldest(() => copies.size < MAX_COPIES && total() + bytes <= maxBytes);
      copies.set(key, made);
      return PAUSE_TIMES * (clock.monotonicMs() - startedMs);
    } finally {
      if (typeof made === 'number') await lease.release();
    }
  };
  /** Notes a search without a copy, and makes one when that is worth it. */
  const note = (key: string, scope: DatasetScope) => {
    const now = clock.monotonicMs();
    let known = counted.get(key);
    if (known === undefined || now - known.sinceMs > SEARCHED_WITHIN_MS) {
      if (counted.size >= MAX_COUNTED) counted.clear();
      known = { sinceMs: now, searches: 0, notBeforeMs: known?.notBeforeMs ?? 0 };
      counted.set(key, known);
    }
    const one = known;
    one.searches += 1;
    if (one.searches < SEARCHES_BEFORE || making !== null || now < one.notBeforeMs || stopping.signal.aborted) return;
    const pause = (ms: number) => {
      making = null;
      one.notBeforeMs = clock.monotonicMs() + ms;
    };
    making = make(key, datasetScope(scope.tenant, scope.dataset)).then(pause, (error: unknown) => {
      logger.warn('search.copy.failed', { dataset: scope.dataset, error });
      pause(PAUSE_MS);
    });
  };
  const hasItsBuilds = async (copy: Copy, { ledger: changes }: DatasetChanges): Promise<boolean> => {
    if (changes === copy.changes.ledger) return true;
    if (!isSame(copy.builds, await ledger.committedBuilds(copy.scope, MAX_ITEMS))) return false;
    copy.changes = { ...copy.changes, ledger: changes };
    return true;
  };
  const current = async (key: string, scope: DatasetScope): Promise<CurrentCopy | null> => {
    const copy = copies.get(key);
    if (copy === undefined) return null;
    const changes = await datasetChanges(store, scope);
    const isUpToDate = await hasItsBuilds(copy, changes);
    if (copies.get(key) !== copy) return null;
    if (!copy.lease.isHeld() || !isUpToDate) {
      void drop(key, copy);
      return null;
    }
    copy.usedMs = clock.monotonicMs();
    const { vectors } = copy;
    // A version keeps its space as long as the items are those that were built into it.
    const hasItsVectors = changes.vectorVersions === copy.changes.vectorVersions && vectors.space !== null;
    return { copy, changes, vectors: hasItsVectors ? vectors : null };
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
          if (copy === null) note(keyOf(scope), scope);
          else found.set(keyOf(scope), copy);
        }),
      );
      return found.size === 0 ? null : readsOf(found, options);
    },
    /** Drops every copy, and makes no more. */
    async stop(): Promise<void> {
      stopping.abort();
      clearInterval(sweep);
      await making;
      await Promise.all([...copies].map(([key, copy]) => drop(key, copy)));
    },
  };
}

/** A copy that is up to date, and the vectors of its dataset; null: they are to be asked for. */
interface CurrentCopy {
  readonly copy: Copy;
  readonly changes: DatasetChanges;
  readonly vectors: ActiveVectorVersion | null;
}

function readsOf(found: ReadonlyMap<string, CurrentCopy>, options: DatasetCopiesOptions): CopiedDatasets {
  const { from, ledger, vectorVersions, supersessions } = options;
  const copyOf = (scope: DatasetScope) => {
    const copy = found.get(keyOf(scope))?.copy;
    return copy?.lease.isHeld() ? copy : null;
  };
  const { text, vectors, graph } = from;
  const textOf = (scope: DatasetScope): CopiedTextReads => copyOf(scope)?.text ?? text;
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
      vectors,
      graph: {
        ...graph,
        neighbours: (scope, ...rest) => (copyOf(scope)?.graph ?? graph).neighbours(scope, ...rest),
        ...(pathsOver && {
          pathsOver: (scope, ...rest) => (copyOf(scope)?.graph?.pathsOver ?? pathsOver)(scope, ...rest),
        }),
      },
    },
    ledger: {
      async committed(scope, items) {
        const builds = found.get(keyOf(scope))?.copy.builds;
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
        const vectors = found.get(keyOf(scope))?.vectors ?? null;
        if (vectors === null) return vectorVersions.active(scope);
        return { ...vectors, scope: vectorVersions.scopeOf(scope, vectors.number) };
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

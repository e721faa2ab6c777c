import type { DataItemId } from '../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { pagesOf } from '../common/kernel/result-page.ts';
import { type DatasetScope, datasetScope } from '../common/kernel/scope.ts';
import { slices } from '../common/kernel/slices.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Clock } from '../common/ports/system.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import { type VectorIndexVersions, versionScope } from '../common/records/cognify/vector-index-versions.ts';
import type { DatasetIndexes, IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import { INDEX_KINDS, type Provenance, provenanceKey, VECTOR_KINDS } from '../common/storage/ports/index-entry.ts';
import { type TextRow, textPages } from '../common/storage/ports/text-index.ts';
import { isSameSpace, type VectorEntry, type VectorSpace } from '../common/storage/ports/vector-index.ts';

/** Copies of small datasets in this process: searches read them in place of servers, one trip for each step. */
export type DatasetCopies = ReturnType<typeof createDatasetCopies>;

export interface DatasetCopiesOptions {
  /** The servers. */
  readonly from: IndexStores;
  /** Indexes of this process alone. */
  readonly to: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  /** Of text in a copy; each brings about three rows beside it. */
  readonly maxRows: number;
  readonly ledger: Pick<Ledger, 'allEntries'>;
  readonly vectorVersions: Pick<VectorIndexVersions, 'state'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Datasets that were searched so often are copied. */
const SEARCHES_BEFORE = 3;
const MAX_COPIES = 16;
/** The ledger of a copy is read whole for each search. */
const MAX_ITEMS = 500;
const PAGE = 1000;
/** So many items are read by themselves; of more, the dataset is read as a whole. */
const FEW_ITEMS = 8;
/** A generation is copied when it has been there for so long: servers may be read from replicas that lag behind. */
const SETTLED_MS = 2_000;
/** A copy that is of no use is kept for searches under way. */
const STALE_MS = 60_000;
const IDLE_MS = 10 * 60_000;
/** Until a dataset that is too large, or could not be copied, is looked at again. */
const PAUSE_MS = 10 * 60_000;
const SWEEP_MS = 15_000;

interface Copy {
  readonly scope: DatasetScope;
  /** `stampOf` of each item of which every row is here. */
  readonly held: Map<DataItemId, string>;
  vectors: { readonly scope: DatasetScope; readonly space: VectorSpace | null } | null;
  searches: number;
  usedAtMs: number;
  notBeforeMs: number;
  isStale: boolean;
  copying: Promise<void> | null;
  removing: Promise<void> | null;
}

type Generations = ReadonlyMap<DataItemId, { readonly generation: number; readonly committedAt: string | null }>;

export function createDatasetCopies(options: DatasetCopiesOptions) {
  const { to, ledger, vectorVersions, clock, logger } = options;
  const copies = new Map<string, Copy>();
  const keyOf = ({ tenant, dataset }: DatasetScope) => `${tenant} ${dataset}`;
  const stateOf = async (scope: DatasetScope) => {
    const [entries, { active, wish }] = await Promise.all([ledger.allEntries(scope), vectorVersions.state(scope)]);
    const committed: Generations = new Map([...entries].filter(([, entry]) => !entry.erased && entry.generation > 0));
    return { committed, number: active, requested: wish, vectors: versionScope(scope, active) };
  };
  const remove = (copy: Copy): Promise<void> => {
    const drop = async () => {
      copy.isStale = true;
      await copy.copying;
      await Promise.all([to.text.drop(copy.scope), to.graph.drop(copy.scope)]);
      if (copy.vectors !== null) await to.vectors.drop(copy.vectors.scope);
      copies.delete(keyOf(copy.scope));
    };
    copy.removing ??= drop().catch((error: unknown) => {
      // Stale as it is, it is of no use to anybody; it is removed with the next sweep.
      copy.removing = null;
      logger.warn('search.copy.not_removed', { dataset: copy.scope.dataset, error });
    });
    return copy.removing;
  };
  const copyOf = (scope: DatasetScope): Copy | null => {
    const known = copies.get(keyOf(scope));
    if (known !== undefined) return known;
    if (copies.size >= MAX_COPIES) {
      const [oldest] = [...copies.values()].sort((a, b) => a.usedAtMs - b.usedAtMs);
      if (oldest !== undefined && clock.monotonicMs() - oldest.usedAtMs > STALE_MS) void remove(oldest);
      return null;
    }
    const usedAtMs = clock.monotonicMs();
    const copy: Copy = { scope, held: new Map(), vectors: null, searches: 0, usedAtMs, notBeforeMs: 0, isStale: false, copying: null, removing: null }; // biome-ignore format: one line
    copies.set(keyOf(scope), copy);
    return copy;
  };
  const update = (copy: Copy) => {
    if (copy.copying !== null || copy.isStale || clock.monotonicMs() < copy.notBeforeMs) return;
    const copying = bringUpToDate(options, copy, stateOf).catch((error: unknown) => {
      logger.warn('search.copy.failed', { dataset: copy.scope.dataset, error });
      copy.isStale = true;
    });
    copy.copying = copying.finally(() => {
      copy.copying = null;
    });
  };
  const sweep = setInterval(() => {
    const now = clock.monotonicMs();
    for (const copy of copies.values()) {
      if (now - copy.usedAtMs > (copy.isStale ? STALE_MS : IDLE_MS)) void remove(copy);
    }
  }, SWEEP_MS);
  sweep.unref();
  const current = async (dataset: DatasetRef) => {
    const copy = copyOf(datasetScope(dataset.tenant, dataset.id));
    if (copy === null) return null;
    copy.searches += 1;
    if (copy.held.size === 0) {
      if (copy.searches >= SEARCHES_BEFORE) update(copy);
      return null;
    }
    if (copy.isStale) return null;
    const { committed, number, requested, vectors } = await stateOf(copy.scope);
    const isWhole = [...committed].every(([item, entry]) => copy.held.get(item) === stampOf(entry));
    if (!isWhole || copy.vectors?.scope.dataset !== vectors.dataset || copy.isStale) {
      update(copy);
      return null;
    }
    // Rows of what was forgotten are removed.
    if (copy.held.size > committed.size) update(copy);
    copy.usedAtMs = clock.monotonicMs();
    const seen = [...committed].filter(([item]) => dataset.withheld?.has(item) !== true);
    return {
      committed: seen.map(([item, { generation }]) => [item, generation] as const),
      active: { number, scope: versionScope(scopeOf(dataset), number), space: copy.vectors.space, requested },
    };
  };
  return {
    /**
     * The committed generations of the datasets and their vectors, as they are now, when the copies have all of their rows.
     * Null: ask the servers; the copies are made or brought up to date meanwhile, where that is worth it.
     */
    async of(datasets: readonly DatasetRef[]) {
      const found = await Promise.all(datasets.map(current));
      const present = found.filter((one) => one !== null);
      if (present.length < datasets.length || datasets.length === 0) return null;
      const active = new Map(datasets.map(({ id }, at) => [id as string, present[at]?.active]));
      return {
        committed: new Map(present.flatMap(({ committed }) => committed)),
        active: async ({ dataset }: DatasetScope) => {
          const found = active.get(dataset);
          if (found === undefined) throw new Error(`dataset ${dataset} is not among the copies`);
          return found;
        },
      };
    },
    /** Removes what was forgotten from the copy of a dataset, if there is one. */
    async refresh(dataset: string): Promise<void> {
      for (const copy of copies.values()) {
        if (copy.scope.dataset !== dataset || copy.held.size === 0) continue;
        await copy.copying;
        copy.notBeforeMs = 0;
        update(copy);
        await copy.copying;
      }
    },
    /** Removes the copy of a dataset that is erased. */
    async forget(dataset: string): Promise<void> {
      const found = [...copies.values()].filter(({ scope }) => scope.dataset === dataset);
      await Promise.all(found.map(remove));
    },
    /** Ends what is being copied. */
    async stop(): Promise<void> {
      clearInterval(sweep);
      for (const copy of copies.values()) copy.isStale = true;
      await Promise.all([...copies.values()].map(({ copying }) => copying));
    },
  };
}

function stampOf({ generation, committedAt }: { readonly generation: number; readonly committedAt: string | null }) {
  return `${generation} ${committedAt}`;
}

async function bringUpToDate(
  { from, to, maxRows, clock }: DatasetCopiesOptions,
  copy: Copy,
  stateOf: (scope: DatasetScope) => Promise<{ readonly committed: Generations; readonly vectors: DatasetScope }>,
): Promise<void> {
  const { scope, held } = copy;
  const pauseFor = (ms: number) => {
    copy.notBeforeMs = clock.monotonicMs() + ms;
  };
  const { committed, vectors } = await stateOf(scope);
  if (committed.size > MAX_ITEMS || (await from.text.count(scope, {})) > maxRows) {
    copy.isStale = held.size > 0;
    return pauseFor(PAUSE_MS);
  }
  const space = await from.vectors.space(vectors);
  copy.vectors ??= { scope: vectors, space };
  const { space: known } = copy.vectors;
  const isSame = space === null || known === null ? space === known : isSameSpace(space, known);
  if (!isSame || copy.vectors.scope.dataset !== vectors.dataset) {
    copy.isStale = true;
    return;
  }
  for (const [item, stamp] of [...held]) {
    const entry = committed.get(item);
    if (entry !== undefined && stampOf(entry) === stamp) continue;
    held.delete(item);
    const selection = { item, generation: Number(stamp.split(' ')[0]) };
    await Promise.all([to.text.remove(scope, selection), to.vectors.remove(vectors, selection), to.graph.remove(scope, selection)]); // biome-ignore format: one line
  }
  const newest = Math.max(...[...committed.values()].map(({ committedAt }) => Date.parse(committedAt ?? '') || 0));
  if (clock.now().getTime() - newest < SETTLED_MS) return pauseFor(SETTLED_MS);
  const missing = [...committed]
    .filter(([item]) => !held.has(item))
    .sort(([, one], [, other]) => ((one.committedAt ?? '') < (other.committedAt ?? '') ? -1 : 1))
    .map(([item, { generation }]) => ({ item, generation }));
  const copyAll = (wanted: readonly Provenance[], one?: Provenance) =>
    copyRows({ from, to }, { copy, vectors, space }, wanted, one);
  if (missing.length > FEW_ITEMS) await copyAll(missing);
  else for (const origin of missing) await copyAll([origin], origin);
  if (copy.isStale) return;
  for (const { item } of missing) {
    const entry = committed.get(item);
    if (entry !== undefined) held.set(item, stampOf(entry));
  }
}

/** Copies the rows of the generations, until the copy is stale; `provenance`: only those of it are read, in place of all. */
async function copyRows(
  { from, to }: Pick<DatasetCopiesOptions, 'from' | 'to'>,
  { copy, vectors, space }: { readonly copy: Copy; readonly vectors: DatasetScope; readonly space: VectorSpace | null }, // biome-ignore format: one line
  wanted: readonly Provenance[],
  provenance: Provenance | undefined,
): Promise<void> {
  const { scope } = copy;
  const places = new Map(wanted.map((origin, place) => [provenanceKey(origin), place]));
  const placeOf = (row: Provenance) => places.get(provenanceKey(row)) ?? -1;
  const isWanted = (row: Provenance) => placeOf(row) >= 0;
  const of = provenance === undefined ? {} : { provenance };
  const texts: TextRow[] = [];
  const entries: VectorEntry[] = [];
  for (const kind of INDEX_KINDS) {
    for await (const page of textPages(from.text, scope, { kind, limit: PAGE, withTokens: true, ...of })) {
      if (copy.isStale) return;
      const rows = page.filter(isWanted);
      texts.push(...rows);
      if (space === null || !VECTOR_KINDS.includes(kind) || rows.length === 0) continue;
      const nodeSets = new Map(rows.map((row) => [`${provenanceKey(row)} ${row.id}`, row.nodeSets]));
      for (const found of await from.vectors.fetch(
        vectors,
        kind,
        rows.map(({ id }) => id),
        provenance,
      )) {
        const ofRow = nodeSets.get(`${provenanceKey(found)} ${found.id}`);
        if (ofRow !== undefined) entries.push({ ...found, kind, nodeSets: ofRow });
      }
    }
  }
  // Of rows with one id the last ones written count: those of the item that was committed last.
  texts.sort((one, other) => placeOf(one) - placeOf(other));
  for (const some of slices(texts, PAGE)) {
    if (copy.isStale) return;
    await to.text.upsert(
      scope,
      some.map((row) => ({ ...row, tokens: row.tokens ?? '' })),
    );
  }
  for (const some of slices(entries, PAGE)) {
    if (space !== null && !copy.isStale) await to.vectors.upsert(vectors, space, some);
  }
  for await (const page of pagesOf((after) => from.graph.scanNodes(scope, { after, limit: PAGE, ...of }))) {
    if (copy.isStale) return;
    await to.graph.upsert(scope, { nodes: page.filter(isWanted), edges: [] });
  }
  for await (const page of pagesOf((after) => from.graph.scanEdges(scope, { after, limit: PAGE, ...of }))) {
    if (copy.isStale) return;
    await to.graph.upsert(scope, { nodes: [], edges: page.filter(isWanted) });
  }
}

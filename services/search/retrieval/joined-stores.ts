import type { DataItemId, DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { scoreBm25 } from '../../common/ranking/bm25.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { IndexStores } from '../../common/storage/ports/dataset-indexes.ts';
import type { EntryKey, Provenance } from '../../common/storage/ports/index-entry.ts';
import type { TextCandidate, TextCandidates } from '../../common/storage/ports/text-index.ts';
import type { VectorHit } from '../../common/storage/ports/vector-index.ts';
import type { LearnedElements, LearnedReader } from './learned-weights.ts';

/** A dataset of a joint ranking, with the query in the space of its vectors. */
export interface JoinedDataset {
  readonly scope: DatasetScope;
  readonly vector: Float32Array | null;
  readonly vectorVersion: DatasetScope | null;
}

interface Stores {
  readonly indexes: IndexStores;
  readonly ledger: Pick<Ledger, 'committed'>;
  readonly learned?: Pick<LearnedElements, 'reader'>;
}

/**
 * Reads several datasets as if they were one: rows of all of them, with statistics over all, so that one ranking compares
 * them. The methods that rank passages ignore the scope that they are called with.
 */
export function joinStores({ indexes, ledger, learned }: Stores, datasets: readonly JoinedDataset[]) {
  const { text, vectors } = indexes;
  const { pathsOver: _, ...graph } = indexes.graph;
  const ofItem = new Map<string, JoinedDataset>();
  const ofRow = new Map<string, JoinedDataset>();
  const remember = <Row extends Provenance>(dataset: JoinedDataset, rows: readonly Row[]) => {
    for (const row of rows) ofItem.set(row.item, dataset);
    return rows;
  };
  const rememberRows = <Row extends EntryKey>(dataset: JoinedDataset, rows: readonly Row[]) => {
    for (const { id } of rows) ofRow.set(id, dataset);
    return remember(dataset, rows);
  };
  /** Asks each dataset for the keys that are its own, and every dataset for those of which it is not known. */
  const route = async <Key extends string, Row>(
    keys: readonly Key[],
    known: ReadonlyMap<string, JoinedDataset>,
    read: (dataset: JoinedDataset, own: readonly Key[]) => Promise<Iterable<Row>>,
  ): Promise<Row[]> => {
    const found = await Promise.all(
      datasets.map((dataset) => {
        const own = keys.filter((key) => (known.get(key) ?? dataset) === dataset);
        return own.length === 0 ? [] : read(dataset, own);
      }),
    );
    return found.flatMap((rows) => [...rows]);
  };
  const joined: Pick<IndexStores['text'], 'candidates' | 'fetch' | 'fetchCandidates'> = {
    async candidates(_, query, signal) {
      const found = await Promise.all(datasets.map(({ scope }) => text.candidates(scope, query, signal)));
      for (const [at, { candidates }] of found.entries()) rememberRows(datasets[at] as JoinedDataset, candidates);
      return mergeCandidates(found, query.limit);
    },
    fetch: (_, kind, ids, options) =>
      route(ids, ofRow, async (dataset, own) => remember(dataset, await text.fetch(dataset.scope, kind, own, options))),
    fetchCandidates: (_, query) =>
      route(query.ids, ofRow, async (dataset, ids) =>
        rememberRows(dataset, await text.fetchCandidates(dataset.scope, { ...query, ids })),
      ),
  };
  const committed = async (_: DatasetScope, items: readonly DataItemId[]) =>
    new Map(await route(items, ofItem, ({ scope }, own) => ledger.committed(scope, own)));
  return {
    indexes: {
      text: { ...text, ...joined },
      vectors: {
        ...vectors,
        async nearest(_: DatasetScope, query: Parameters<typeof vectors.nearest>[1], signal?: AbortSignal) {
          const found = await Promise.all(
            datasets.map(async (dataset) => {
              const { vector, vectorVersion } = dataset;
              if (vector === null || vectorVersion === null) return [];
              return rememberRows(dataset, await vectors.nearest(vectorVersion, { ...query, vector }, signal));
            }),
          );
          const isOneSpace = new Set(datasets.flatMap(({ vector }) => vector ?? [])).size < 2;
          return mergeHits(found, isOneSpace).slice(0, query.limit);
        },
      },
      graph: {
        ...graph,
        neighbours: (_: DatasetScope, ids: readonly string[], ...options: Options) =>
          route(ids, ofRow, async (dataset, own) =>
            remember(dataset, await graph.neighbours(dataset.scope, own, ...options)),
          ),
      },
    } satisfies IndexStores,
    // Items are noted by dataset.
    ledger: { committed, asked: null },
    learned:
      learned === undefined
        ? undefined
        : {
            async reader(
              _: DatasetScope,
              influence: Parameters<LearnedElements['reader']>[1],
            ): Promise<LearnedReader | null> {
              const readers = await Promise.all(datasets.map(({ scope }) => learned.reader(scope, influence)));
              const present = readers.filter((reader) => reader !== null);
              const [first, ...others] = present;
              if (first === undefined || others.length === 0) return first ?? null;
              return async (ids) => {
                const [weights, ...more] = await Promise.all(present.map((reader) => reader(ids)));
                const feedback = new Map([weights, ...more].flatMap((one) => [...(one?.feedback ?? [])]));
                return { ...(weights as Awaited<ReturnType<LearnedReader>>), feedback };
              };
            },
          },
    /** Adds the dataset of a passage or row that was read here. */
    withDataset<Found extends { readonly row: Provenance }>(found: Found): Found & { readonly dataset: DatasetId } {
      const dataset = ofItem.get(found.row.item)?.scope.dataset;
      if (dataset === undefined) throw new Error(`item ${found.row.item} belongs to none of the joined datasets`);
      return { ...found, dataset };
    },
  };
}

type Options = Parameters<IndexStores['graph']['neighbours']> extends [unknown, unknown, ...infer Rest] ? Rest : never;

/** Merges rows by BM25 with the statistics of all datasets. */
function mergeCandidates(found: readonly TextCandidates[], limit: number): TextCandidates {
  const all = found.map(({ statistics }) => statistics);
  const rowCount = all.reduce((sum, one) => sum + one.rowCount, 0);
  const length = all.reduce((sum, one) => sum + one.rowCount * one.averageLength, 0);
  const statistics = {
    rowCount,
    averageLength: rowCount === 0 ? 0 : length / rowCount,
    rowFrequencies: (all[0]?.rowFrequencies ?? []).map((_, term) =>
      all.reduce((sum, { rowFrequencies }) => sum + (rowFrequencies[term] ?? 0), 0),
    ),
  };
  const candidates: readonly TextCandidate[] = found.flatMap((one) => one.candidates);
  const best = scoreBm25({ candidates, statistics }).slice(0, limit);
  return { candidates: best.map(({ row }) => row), statistics };
}

/** Merges hits by similarity; those of different models, whose similarities mean different things, by their places. */
function mergeHits(found: readonly (readonly VectorHit[])[], isOneSpace: boolean): readonly VectorHit[] {
  if (isOneSpace) return found.flat().sort((a, b) => b.similarity - a.similarity);
  return found
    .flatMap((hits) => hits.map((hit, place) => ({ hit, place })))
    .sort((a, b) => a.place - b.place)
    .map(({ hit }) => hit);
}

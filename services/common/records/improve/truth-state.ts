import type { TruthSlot } from '../../domain/truth-slot.ts';
import { vectorOfText, vectorText } from '../../domain/vector-text.ts';
import type { DataItemId, DatasetId } from '../../kernel/brand.ts';
import { dataItemId, idFor } from '../../kernel/ids.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { type DocumentStore, insert, removeWhere } from '../../storage/ports/document-store.ts';
import type { Provenance } from '../../storage/ports/index-entry.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import type { VectorSpace } from '../../storage/ports/vector-index.ts';
import { put, repository } from '../base/repository.ts';

type CentroidDocument = {
  readonly slot: number;
  readonly count: number;
  readonly truthEpoch: number;
  /** Milliseconds. */
  readonly updatedAt: number;
  /** See `vector-text.ts`. */
  readonly centroid: string;
  readonly learningIds: readonly string[];
  /** Model of the space; absent in documents that are older than migrations. */
  readonly model?: string;
};

type CoordinatesDocument = {
  readonly itemId: string;
  readonly generation: number;
  readonly truthEpoch: number;
  /** Passages of the page; more than are scored when some could not be embedded. */
  readonly total: number;
  readonly chunks: readonly string[];
  /** `TRUTH_SLOTS` cosines a chunk, in their order. */
  readonly coordinates: string;
};

/** Centroids of a dataset's learnings in vector space, one document per slot (cognify-improve.md §3.12). */
export const truthCentroidsCollection: OwnedCollection<CentroidDocument> = {
  name: 'truth_centroids',
  level: 'dataset',
  owner: 'improve',
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['slot'] }],
};

/** Coordinates of passages in the subspace, some hundred of one item in a document. */
export const truthCoordinatesCollection: OwnedCollection<CoordinatesDocument> = {
  name: 'truth_coordinates',
  level: 'dataset',
  owner: 'improve',
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['itemId'] }],
};

export const TRUTH_SLOTS = 8;
/** Passages of one document of coordinates, by their number in the item. */
export const CHUNKS_PER_PAGE = 500;

export interface TruthSubspace {
  /** 0: there is none. Coordinates of another epoch mean nothing. */
  readonly epoch: number;
  /** By slot. */
  readonly slots: readonly TruthSlot[];
  /** Model of the centroids' vectors; null: not known. */
  readonly model: string | null;
}

/** Whether the centroids can be compared with vectors of the space. */
export function isOfSpace({ slots, model }: Pick<TruthSubspace, 'slots' | 'model'>, space: VectorSpace): boolean {
  const isSameModel = model === null || model === space.model;
  return isSameModel && slots.every(({ centroid }) => centroid.length === space.dimensions);
}

interface ScoredPage extends Provenance {
  readonly epoch: number;
  readonly total: number;
  readonly scored: number;
}

/** Coordinates of some passages of an item. */
interface ScoredChunks extends Provenance {
  /** `floor(chunk number / CHUNKS_PER_PAGE)` */
  readonly page: number;
  readonly epoch: number;
  /** Passages of the page, scored or not. */
  readonly total: number;
  readonly chunks: readonly string[];
  readonly coordinates: Float32Array;
}

export type TruthState = ReturnType<typeof createTruthState>;

export function createTruthState(store: DocumentStore) {
  const scored = repository(store, truthCoordinatesCollection, (stored) => stored);
  return {
    async subspace(scope: DatasetScope): Promise<TruthSubspace> {
      const { items } = await store.find(scope, truthCentroidsCollection, {
        sort: [{ field: 'slot' }],
        limit: TRUTH_SLOTS,
      });
      const slots = items.map(({ value: { slot, count, centroid, learningIds } }) => {
        return { slot, count, learningIds, centroid: vectorOfText(centroid) };
      });
      const model = items[0]?.value.model ?? null;
      return { epoch: Math.max(0, ...items.map(({ value }) => value.truthEpoch)), slots, model };
    },
    /** Scored pages without the coordinates, by `<item>/<page>`. */
    async pages(scope: DatasetScope): Promise<ReadonlyMap<string, ScoredPage>> {
      const found = new Map<string, ScoredPage>();
      const read = (after: string | null) => store.find(scope, truthCoordinatesCollection, { limit: READ_PAGE, after });
      for await (const page of pagesOf(read)) {
        for (const { id, value } of page) {
          const { itemId, generation, truthEpoch: epoch, total, chunks } = value;
          found.set(id, { item: dataItemId(itemId), generation, epoch, total, scored: chunks.length });
        }
      }
      return found;
    },
    /** Coordinates of chunks, by their ids, as far as they are of the epoch. */
    async coordinates(
      scope: DatasetScope,
      epoch: number,
      chunks: readonly { readonly id: string; readonly item: string; readonly number: number }[],
    ): Promise<ReadonlyMap<string, Float32Array>> {
      const ids = [...new Set(chunks.map(({ item, number }) => pageId(item, Math.floor(number / CHUNKS_PER_PAGE))))];
      const wanted = new Set(chunks.map(({ id }) => id));
      const found = new Map<string, Float32Array>();
      for (const { value } of await store.getMany(scope, truthCoordinatesCollection, ids)) {
        if (value.truthEpoch !== epoch) continue;
        const all = vectorOfText(value.coordinates);
        for (const [at, id] of value.chunks.entries()) {
          if (wanted.has(id)) found.set(id, all.subarray(at * TRUTH_SLOTS, (at + 1) * TRUTH_SLOTS));
        }
      }
      return found;
    },
    /** Replaces the stored coordinates. `VersionConflictError` when another process wrote them. */
    async keepCoordinates(scope: DatasetScope, pages: readonly ScoredChunks[]): Promise<void> {
      const ids = pages.map(({ item, page }) => pageId(item, page));
      const known = new Map((await scored.getMany(scope, ids)).map((stored) => [stored.id, stored]));
      const writes = pages.map(({ item, page, generation, epoch, total, chunks, coordinates }) => {
        const place = { itemId: item, generation, truthEpoch: epoch };
        const document = { ...place, total, chunks, coordinates: vectorText(coordinates) };
        return put(truthCoordinatesCollection, pageId(item, page), document, known.get(pageId(item, page)));
      });
      if (writes.length > 0) await store.commit(scope, writes);
    },
    /** The epoch is in force when it resolves. */
    async keepSubspace(scope: DatasetScope, { epoch, slots, model }: TruthSubspace, at: Date): Promise<void> {
      const documents = slots.map(({ slot, count, centroid, learningIds }) => {
        const numbers = { slot, count, truthEpoch: epoch, updatedAt: at.getTime() };
        const value = { ...numbers, centroid: vectorText(centroid), learningIds, ...(model === null ? {} : { model }) };
        return insert(truthCentroidsCollection, centroidId(scope.dataset, slot), value);
      });
      await store.commit(scope, [removeWhere(truthCentroidsCollection, {}), ...documents]);
    },
    forgetItem: (scope: DatasetScope, item: DataItemId) => scored.removeWhere(scope, { itemId: item }),
  };
}

const READ_PAGE = 100;

function pageId(item: string, page: number): string {
  return `${item}/${page}`;
}

function centroidId(dataset: DatasetId, slot: number): string {
  return idFor('TruthCentroid', `${dataset}:${slot}`);
}

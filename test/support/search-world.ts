import { createHash } from 'node:crypto';
import { collections } from '../../services/app/collections.ts';
import {
  type ChunkPayload,
  chunkEmbeddedText,
  chunkRow,
  containsEdge,
  edgeRow,
  entityRow,
  NODE_TYPES,
  RELATIONS,
  subjectNames,
  summaryRow,
} from '../../services/common/domain/index-rows.ts';
import type { RunState } from '../../services/common/domain/run.ts';
import type { SessionSpending } from '../../services/common/domain/session.ts';
import type { DataItemId, DatasetId } from '../../services/common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../services/common/kernel/dataset.ts';
import { engramError } from '../../services/common/kernel/errors.ts';
import { asId, chunkId, datasetId, idFor, nodeSetId, summaryId, uuid5 } from '../../services/common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { createHashingEmbedder } from '../../services/common/models/hashing/hashing-embedder.ts';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { callerOf, createMessenger, type Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import type { Embedder } from '../../services/common/ports/models.ts';
import { createLedger, type Ledger, ledgerCollection } from '../../services/common/records/cognify/ledger.ts';
import { createSessionEntries } from '../../services/common/records/sessions/session-entries.ts';
import { createSessions } from '../../services/common/records/sessions/sessions.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import { type DocumentStore, update } from '../../services/common/storage/ports/document-store.ts';
import { names } from '../../services/common/text/language/names.ts';
import { sentences } from '../../services/common/text/language/sentences.ts';
import { tokenize } from '../../services/common/text/language/tokenize.ts';
import type { SearchModels, SearchServiceOptions } from '../../services/search/dependencies.ts';
import type { SearchSettings } from '../../services/search/model.ts';
import { createSearchService } from '../../services/search/service.ts';
import { principalOf, type RunningApp, runApp } from './http-app.ts';
import { createMemoryDatasetIndexes } from './memory/dataset-indexes.ts';
import { createMemoryDocumentStore } from './memory/document-store.ts';
import { unsignedPrincipals } from './unsigned-principals.ts';

export interface WorldPassage {
  readonly title: string;
  readonly text: string;
  readonly nodeSets?: readonly string[];
  readonly dates?: readonly string[];
}

/** Indexes with content as cognify writes it; uncommitted rows stay invisible. */
export interface SearchWorld {
  readonly store: DocumentStore;
  readonly indexes: DatasetIndexes;
  readonly ledger: Ledger;
  readonly embedder: Embedder;
  dataset(name: string): DatasetRef;
  /** Builds and commits one item per passage; returns their ids. */
  fill(dataset: DatasetRef, passages: readonly WorldPassage[]): Promise<readonly DataItemId[]>;
  /** Writes rows of the next generation without committing them. */
  write(dataset: DatasetRef, passage: WorldPassage): Promise<DataItemId>;
  forget(dataset: DatasetRef, item: DataItemId): Promise<void>;
}

export const OWNER = principalOf('user-key');

/** On stores of the caller, or in memory. */
export async function createSearchWorld(
  stores: Partial<Pick<SearchWorld, 'store' | 'indexes'>> = {},
): Promise<SearchWorld> {
  const { store = createMemoryDocumentStore(), indexes = createMemoryDatasetIndexes() } = stores;
  await store.prepare(collections);
  const ledger = createLedger(store);
  const embedder = createHashingEmbedder({ dimensions: 128 });
  const write = async (dataset: DatasetRef, passage: WorldPassage) => {
    const item = asId<DataItemId>(uuid5(dataset.id, `${passage.title}\n${passage.text}`));
    const generation = await ledger.begin(scopeOf(dataset), item);
    await writeRows({ indexes, embedder }, dataset, { item, generation, passage });
    return { item, generation };
  };
  return {
    store,
    indexes,
    ledger,
    embedder,
    dataset: (name) => ({
      id: datasetId(name, OWNER.id, null),
      name,
      ownerId: OWNER.id,
      tenant: PERSONAL_TENANT,
      createdAt: '2026-01-02T03:04:05.678Z',
      updatedAt: null,
    }),
    write: async (dataset, passage) => (await write(dataset, passage)).item,
    async fill(dataset, passages) {
      const items: DataItemId[] = [];
      for (const passage of passages) {
        const { item, generation } = await write(dataset, passage);
        await store.commit(scopeOf(dataset), ledger.commitWrites(item, generation, 'hash', '2026-01-02T03:04:05.678Z'));
        items.push(item);
      }
      return items;
    },
    async forget(dataset, item) {
      const change = { set: { erased: true }, required: true };
      await store.commit(scopeOf(dataset), [update(ledgerCollection, item, change)]);
    },
  };
}

async function writeRows(
  { indexes, embedder }: Pick<SearchWorld, 'indexes' | 'embedder'>,
  dataset: DatasetRef,
  { item, generation, passage }: { item: DataItemId; generation: number; passage: WorldPassage },
): Promise<void> {
  const scope = scopeOf(dataset);
  const origin = { item, generation, nodeSets: passage.nodeSets ?? [] };
  const hash = createHash('sha256').update(passage.text).digest('hex');
  const id = chunkId(item, hash, 0);
  const payload: ChunkPayload = {
    text: passage.text,
    documentId: item,
    documentName: passage.title,
    chunkIndex: 0,
    chunkSize: 12,
    cutType: 'paragraph_end',
    contentHash: hash,
    headings: [],
    page: null,
    importanceWeight: 0.5,
    externalMetadata: { origin: 'test' },
    nodeSets: origin.nodeSets,
    createdAt: '2026-01-02T03:04:05.678Z',
  };
  const split = sentences(passage.text).map((sentence) => sentence.text);
  const subjects = new Set(subjectNames(payload, null));
  const mentioned = new Set([...names(passage.text).map((name) => name.text), ...subjects]);
  const summary = { ...payload, chunkId: id, text: split[0] ?? '' };
  const inText = [...mentioned].filter((name) => passage.text.includes(name));
  const edges = split.flatMap((text, ordinal) => {
    const [source, target] = inText.filter((name) => text.includes(name));
    if (source === undefined || target === undefined) return [];
    const ends = { source: idFor('Entity', source), target: idFor('Entity', target) };
    return [{ ordinal, ...ends, relation: 'relates_to', text, chunkId: id, sourceName: source, targetName: target }];
  });
  await indexes.text.upsert(scope, [
    chunkRow(origin, { id, payload, ...(passage.dates === undefined ? {} : { dates: passage.dates }) }, tokenize),
    summaryRow(origin, { id: summaryId(id), payload: summary }, tokenize),
    ...[...mentioned].map((name, ordinal) => {
      const entity = { name, type: 'Person', description: `${name} of ${passage.title}` };
      return entityRow(origin, { id: idFor('Entity', name), ordinal, payload: entity, aliases: [] }, tokenize);
    }),
    ...edges.map(({ ordinal, ...edge }) => edgeRow(origin, { ordinal, payload: edge }, tokenize)),
  ]);
  const context = { scope, purpose: 'query' as const };
  const [chunkVector, summaryVector] = await embedder.embed([chunkEmbeddedText(payload, null), summary.text], context);
  await indexes.vectors.upsert(scope, embedder.space, [
    { ...origin, kind: 'chunk', id, vector: chunkVector as Float32Array },
    { ...origin, kind: 'summary', id: summaryId(id), vector: summaryVector as Float32Array },
  ]);
  await indexes.graph.upsert(scope, {
    nodes: [{ ...origin, id, type: NODE_TYPES.chunk, name: '', mentions: 1, properties: { text: passage.text } }],
    edges: [
      ...origin.nodeSets.map((name) => ({
        item,
        generation,
        source: id,
        target: nodeSetId(name),
        relation: RELATIONS.belongsToSet,
        weight: 1,
        properties: {},
      })),
      ...[...mentioned].map((name) =>
        containsEdge(origin, {
          chunkId: id,
          entityId: idFor('Entity', name),
          mentions: passage.text.split(name).length - 1,
          isSubject: subjects.has(name),
        }),
      ),
      ...edges.map(({ source, target, relation, text }) => ({
        item,
        generation,
        source,
        target,
        relation,
        weight: 1,
        properties: { chunkId: id, text },
      })),
    ],
  });
}

export const SETTINGS: SearchSettings = {
  accessControl: true,
  sessionMemory: true,
  autoFeedback: true,
  historyCharacters: 16_000,
  logSearchHistory: true,
  allowCypherQuery: false,
  recallWarmupShortcircuit: true,
  recallWarmupThreshold: 1,
  recallWarmupCacheTtlMs: 60_000,
  concurrentSearches: 4,
  copyMemoryBytes: 0,
};

export interface SearchApp extends AsyncDisposable {
  readonly app: RunningApp;
  readonly messenger: Messenger;
  /** Runs that `RunStatuses` answers. */
  readonly runs: RunState[];
  /** Requests of `NoteOnTurn`. Turns of `AppendSession` are in the store. */
  readonly notes: RequestOf<'ingest.NoteOnTurn'>[];
  /** Token usage of each turn in the requests of `AppendSession`. */
  readonly spending: (SessionSpending | null)[];
}

/** Starts the service behind a real HTTP server, with doubles of auth, ingest and cognify for the given datasets. */
export async function startSearch(
  world: SearchWorld,
  datasets: readonly DatasetRef[],
  options: Partial<Pick<SearchServiceOptions, 'embedder' | 'indexes'>> & {
    readonly models?: Partial<SearchModels>;
    readonly settings?: Partial<SearchSettings>;
  } = {},
): Promise<SearchApp> {
  const bus = createInProcessBus();
  const messenger = createMessenger(bus, unsignedPrincipals);
  const runs: RunState[] = [];
  await messenger.serve('auth.ResolveDatasets', async ({ ids, names: wanted }) => ({
    datasets: resolve(datasets, ids, wanted),
  }));
  await messenger.serve('cognify.RunStatuses', async () => ({ runs }));
  await messenger.serve('ingest.DatasetItems', async () => ({ items: [], next: null }));
  const notes: RequestOf<'ingest.NoteOnTurn'>[] = [];
  const spending: (SessionSpending | null)[] = [];
  await messenger.serve('ingest.NoteOnTurn', async (request) => {
    notes.push(request);
    return { noted: true };
  });
  const entries = createSessionEntries(world.store, createSessions(world.store));
  await messenger.serve(
    'ingest.AppendSession',
    async ({ session, qaId, datasetId, entry, spending: spent }, context) => {
      spending.push(spent);
      const { id: user, tenant } = callerOf(context);
      const change = {
        dataset: datasetId === null ? null : asId<DatasetId>(datasetId),
        lastActivityAt: new Date().toISOString(),
      };
      await entries.appendQa({ tenant }, { user, session }, qaId, entry, change);
      return { stored: true };
    },
  );
  const silent = () => {};
  const { settings, models, ...replaced } = options;
  const service = createSearchService({
    store: world.store,
    indexes: world.indexes,
    ledger: world.ledger,
    embedder: world.embedder,
    messenger,
    clock: createSystemClock(),
    ids: createIdSource(),
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    settings: { ...SETTINGS, ...settings },
    models: searchModels(models),
    ...replaced,
  });
  await service.start();
  const app = await runApp({ routes: service.routes });
  return {
    app,
    messenger,
    runs,
    notes,
    spending,
    async [Symbol.asyncDispose]() {
      await app.stop();
      await service.stop();
      await bus.drain();
    },
  };
}

/** Returns a source of models that never changes. */
export function searchModels(models: Partial<SearchModels> = {}): SearchServiceOptions['models'] {
  return { current: async () => ({ languageModel: null, missingModelKey: null, ...models }) };
}

function resolve(
  datasets: readonly DatasetRef[],
  ids: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): readonly DatasetRef[] {
  if (ids !== undefined) {
    const found = ids.flatMap((id) => datasets.find((dataset) => dataset.id === id) ?? []);
    if (found.length === ids.length) return found;
    throw engramError('PermissionDeniedError', 'Request owner does not have necessary permission.');
  }
  if (wanted === undefined) return datasets;
  const missing = wanted.filter((name) => datasets.every((dataset) => dataset.name !== name));
  if (missing.length > 0) throw engramError('DatasetNotFoundError', `Dataset(s) not found: '${missing.join("', '")}'.`);
  return wanted.flatMap((name) => datasets.filter((dataset) => dataset.name === name));
}

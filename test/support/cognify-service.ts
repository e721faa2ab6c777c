import { createHash, randomUUID } from 'node:crypto';
import { collections } from '../../services/app/collections.ts';
import { createAuditLog } from '../../services/auth/repositories/audit-log.ts';
import { createCognifyService } from '../../services/cognify/service.ts';
import type { CognifySettings, RunModelSource, RunModels, RunSettings } from '../../services/cognify/settings.ts';
import { type DataItem, itemBlobs } from '../../services/common/domain/data-item.ts';
import type { RunState } from '../../services/common/domain/run.ts';
import type { DataItemId, UserId } from '../../services/common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../services/common/kernel/dataset.ts';
import { engramError } from '../../services/common/kernel/errors.ts';
import { asId, datasetId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createHashingEmbedder } from '../../services/common/models/hashing/hashing-embedder.ts';
import { createEventLog } from '../../services/common/platform/events/event-log.ts';
import type { Reply } from '../../services/common/platform/http/route.ts';
import { awaitRun } from '../../services/common/platform/jobs/await-run.ts';
import { createWorkQueue } from '../../services/common/platform/jobs/work-queue.ts';
import type { Service } from '../../services/common/platform/lifecycle/service.ts';
import type { CognifyOptions } from '../../services/common/platform/messaging/messages.ts';
import { callerOf, createMessenger, type Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import type { DocumentLoader, ParsedDocument } from '../../services/common/ports/documents.ts';
import type { EmbedderSource } from '../../services/common/ports/embedders.ts';
import type { Extractor } from '../../services/common/ports/extractor.ts';
import type { Logger } from '../../services/common/ports/logger.ts';
import type { Embedder } from '../../services/common/ports/models.ts';
import { createLedger, type Ledger } from '../../services/common/records/cognify/ledger.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import type { BlobStore } from '../../services/common/storage/ports/blob-store.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import { CALL, callRoute, type TestRequest, userPrincipal } from './call-route.ts';
import { textItem } from './data-item.ts';
import { createMemoryBlobStore } from './memory/blob-store.ts';
import { createMemoryDatasetIndexes } from './memory/dataset-indexes.ts';
import { createMemoryDocumentStore } from './memory/document-store.ts';
import { textWorkers } from './text-workers.ts';
import { unsignedPrincipals } from './unsigned-principals.ts';

/** Capitalised words are entities, two in one sentence are related: enough to see a graph grow. */
export const capitalsExtractor: Extractor = {
  version: 'capitals/1',
  async extract({ text }) {
    const sentences = [...text.matchAll(/[^.]+\.?/g)].map((match) => ({
      text: match[0].trim(),
      start: match.index,
      entities: [...new Set(match[0].match(/\b[A-Z][a-z]+\b/g) ?? [])],
    }));
    const mentions = new Map<string, number>();
    for (const name of sentences.flatMap(({ entities }) => entities)) {
      mentions.set(name, (mentions.get(name) ?? 0) + 1);
    }
    return {
      entities: [...mentions].map(([name, count]) => ({
        name,
        type: 'Person',
        description: `the one called ${name}`,
        aliases: [],
        mentions: count,
      })),
      relations: sentences.flatMap(({ text: evidence, entities: [source, target] }) =>
        source !== undefined && target !== undefined ? [{ source, target, relation: 'knows', evidence }] : [],
      ),
      sentences,
      summary: sentences[0]?.text ?? '',
      usage: null,
    };
  },
};

/** Parts that outlive a service: stores, and the doubles of ingest and auth. */
export interface TestWorld {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  readonly indexes: DatasetIndexes;
  readonly ledger: Ledger;
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly items: DataItem[];
  /** Items that are listed but missing when they are read by id. */
  readonly vanished: Set<string>;
  /** Users with access to the dataset. */
  readonly permitted: Set<string>;
  /** Adds a text as ingest does: blob, then record. The same id again changes the content. */
  addText(name: string, text: string, more?: Partial<DataItem>): Promise<DataItem>;
}

export function parsedText(text: string): ParsedDocument {
  const blocks = text.split('\n\n').map((part) => ({ kind: 'paragraph' as const, text: part }));
  return { text, blocks, title: null, format: 'text', metadata: {} };
}

export async function createWorld(
  parts: Partial<Pick<TestWorld, 'store' | 'blobs' | 'indexes'>> = {},
): Promise<TestWorld> {
  const store = parts.store ?? createMemoryDocumentStore();
  await store.prepare(collections);
  const blobs = parts.blobs ?? createMemoryBlobStore();
  const userId = asId<UserId>(randomUUID());
  const principal = userPrincipal(userId, 'ada@example.com');
  const { tenant } = principal;
  const createdAt = '2026-01-02T03:04:05.678Z';
  const id = datasetId('notes', userId, null);
  const dataset: DatasetRef = { id, name: 'notes', ownerId: userId, tenant, createdAt, updatedAt: null };
  const items: DataItem[] = [];
  return {
    store,
    blobs,
    principal,
    dataset,
    items,
    indexes: parts.indexes ?? createMemoryDatasetIndexes(),
    ledger: createLedger(store),
    permitted: new Set([userId, CALL.principal.id]),
    vanished: new Set(),
    async addText(name, text, more = {}) {
      const document = parsedText(text);
      const item = textItem({
        id: asId<DataItemId>(randomUUID()),
        name,
        ownerId: userId,
        sizeBytes: text.length,
        contentHash: createHash('md5').update(text).digest('hex'),
        createdAt,
        ...more,
      });
      await blobs.put(scopeOf(dataset), itemBlobs.parsed(item), Buffer.from(JSON.stringify(document)));
      const known = items.findIndex((other) => other.id === item.id);
      if (known >= 0) items[known] = item;
      else items.push(item);
      return item;
    },
  };
}

export interface TestCognify extends AsyncDisposable {
  readonly service: Service;
  readonly messenger: Messenger;
  readonly log: readonly { readonly event: string; readonly fields: unknown }[];
  /** Starts a run and waits for its end. */
  run(options?: CognifyOptions): Promise<RunState>;
  start(options?: CognifyOptions): Promise<RunState>;
  /** Calls a route as the HTTP layer does: parses query and body by the schema. */
  call(method: string, path: string, request?: TestRequest): Promise<Reply>;
}

interface TestCognifyOptions {
  readonly extractor?: Extractor;
  readonly embedder?: Embedder;
  readonly documents?: Pick<DocumentLoader, 'loadEncoded'>;
  readonly embedders?: EmbedderSource;
  readonly settings?: Partial<CognifySettings>;
  readonly models?: Partial<Omit<RunModels, 'extractor'>>;
  readonly runs?: Partial<RunSettings>;
  /** Ends all leases first, as a process does that uses its data directory alone. */
  readonly endLeases?: boolean;
}

const FAST_RUNS: Partial<RunSettings> = { leaseMs: 600, pollMs: 25 };

/** Starts a service with its own bus, as in a process of its own. */
export async function startCognify(world: TestWorld, options: TestCognifyOptions = {}): Promise<TestCognify> {
  const bus = createInProcessBus();
  const messenger = createMessenger(bus, unsignedPrincipals);
  await serveDoubles(world, messenger);
  const clock = createSystemClock();
  const ids = createIdSource();
  const log: { event: string; fields: unknown }[] = [];
  const write = (event: string, fields?: unknown) => {
    log.push({ event, fields });
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  const { store, blobs, ledger, principal, dataset } = world;
  const workQueue = createWorkQueue({ store, bus, clock, ids, pollMs: 25 });
  if (options.endLeases === true) await workQueue.endLeases(SYSTEM_SCOPE);
  const service = createCognifyService({
    store,
    blobs,
    ledger,
    messenger,
    clock,
    ids,
    logger,
    text: world.indexes.text,
    vectors: world.indexes.vectors,
    graph: world.indexes.graph,
    embedder: options.embedder ?? createHashingEmbedder({ dimensions: 64 }),
    ...(options.documents === undefined ? {} : { documents: options.documents }),
    ...(options.embedders === undefined ? {} : { embedders: options.embedders }),
    models: fixedModels(options.extractor ?? capitalsExtractor, options.models),
    textWorkers,
    workQueue,
    eventLog: createEventLog({ store, clock, ids }),
    audit: createAuditLog(store, clock),
    settings: options.settings ?? {},
    runs: { ...FAST_RUNS, ...options.runs },
  });
  await service.start();
  const start = async (runOptions: CognifyOptions = {}) =>
    (
      await messenger.call(
        'cognify.StartRun',
        { dataset, options: runOptions, background: true },
        { ...CALL, principal },
      )
    ).run;
  return {
    service,
    messenger,
    log,
    start,
    async run(runOptions) {
      return awaitRun(messenger, (await start(runOptions)).id, CALL);
    },
    call: (method, path, request) => callRoute(service.routes, method, path, { principal, ...request }),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await bus.drain();
    },
  };
}

/** Models that do not change; their extractor costs nothing. */
export function fixedModels(extractor: Extractor, models: Partial<RunModels> = {}): RunModelSource {
  const fixed = { extractor, keepExtractions: false, maxChunkTokens: 4096, missingModelKey: null, ...models };
  return { current: async () => fixed, withoutModel: () => fixed };
}

async function serveDoubles(world: TestWorld, messenger: Messenger): Promise<void> {
  const { principal, dataset, items, permitted, vanished } = world;
  await messenger.serve('ingest.DatasetItems', async ({ ids, after, limit }) => {
    const chosen = ids === undefined ? items : items.filter(({ id }) => ids.includes(id) && !vanished.has(id));
    const start = Number(after ?? 0);
    const page = chosen.slice(start, start + limit);
    return { items: page, next: start + limit < chosen.length ? String(start + limit) : null };
  });
  await messenger.serve('auth.GetPrincipal', async ({ userId }) => ({
    principal: userId === principal.id ? principal : null,
  }));
  await messenger.serve('auth.ResolveDatasets', async ({ ids, names }, context) => {
    const caller = callerOf(context);
    const isKnown = ids?.every((id) => id === dataset.id) ?? true;
    const isNamed = names?.every((name) => name === dataset.name) ?? true;
    if (permitted.has(caller.id) && isKnown && isNamed) return { datasets: [dataset] };
    throw engramError('PermissionDeniedError', 'Request owner does not have necessary permission.');
  });
}

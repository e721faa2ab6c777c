import { randomUUID } from 'node:crypto';
import type { DatasetServices, StartRequest } from '../../../operator/dataset/services.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type {
  DeclaredGrant,
  SyncGrantsRequest,
} from '../../../services/common/platform/messaging/methods/auth-managed.ts';
import type {
  EmbeddingState,
  MigrateEmbeddingRequest,
  SetDatasetConfigurationRequest,
} from '../../../services/common/platform/messaging/methods/cognify-managed.ts';
import type {
  DatasetStatistics,
  ErasureProgress,
} from '../../../services/common/platform/messaging/methods/ingest-managed.ts';
import type {
  RestoreProgress,
  SnapshotInfo,
  SnapshotProgress,
} from '../../../services/common/platform/messaging/methods/snapshots.ts';

export interface HeldDataset {
  readonly id: string;
  readonly tenantId: string;
  name: string;
  crUid: string | null;
  /** Declared ones, as `user/ana@x: read,write`. */
  grants: readonly string[];
  /** Given by hand. */
  byHand: readonly string[];
  configuration: Pick<SetDatasetConfigurationRequest, 'graphModel' | 'prompt' | 'chunking'>;
  /** How long items are kept, as it was declared last. */
  itemsMs?: number | undefined;
  statistics: DatasetStatistics;
  /** As it was declared last. */
  embedding?: MigrateEmbeddingRequest['embedding'];
}

type MethodName = keyof DatasetServices;

/** The services as the operator sees them, in memory, with whatever faults a test asks for. */
export interface FakeDatasetServices extends DatasetServices {
  readonly calls: readonly { readonly method: MethodName; readonly request: unknown }[];
  readonly datasets: Map<string, HeldDataset>;
  readonly started: readonly StartRequest[];
  /** Holders that the tenant knows: `user/ana@acme.example.com`, `role/support`. Tenants are always known. */
  readonly known: Set<string>;
  drifted: boolean;
  unused: string | null;
  /** What `migrateEmbedding` answers, one after the other; then that there is nothing to do. */
  migrationAnswers: EmbeddingState[];
  /** Newest first. */
  snapshots: SnapshotInfo[];
  /** What `takeSnapshot` and `restoreDataset` answer, one after the other; then it is there. */
  snapshotAnswers: SnapshotProgress[];
  restoreAnswers: RestoreProgress[];
  /** What `eraseDataset` answers, one after the other; then it is erased. */
  erasureAnswers: ErasureProgress[];
  before: Partial<Record<MethodName, () => void | Promise<void>>>;
  fail(method: MethodName, error: Error, times?: number): void;
  heal(): void;
  countOf(method: MethodName): number;
  /** As a user does through the API, before any resource. */
  put(dataset: { readonly id: string; readonly tenantId: string; readonly name: string }): HeldDataset;
}

const NO_STATISTICS: DatasetStatistics = {
  ...{ items: 0, chunks: 0, nodes: 0, edges: 0, pending: 0, failed: 0 },
  ...{ lastCognifiedAt: null, lagSeconds: 0, writer: null, activeRun: null },
};

export function createFakeDatasetServices(): FakeDatasetServices {
  const calls: { method: MethodName; request: unknown }[] = [];
  const datasets = new Map<string, HeldDataset>();
  const started: StartRequest[] = [];
  const known = new Set<string>();
  const receipts = new Map<string, string>();
  /** Uids of resources whose dataset is being erased or was. */
  const erasing = new Set<string>();
  const erased: HeldDataset[] = [];
  let faults: { method: MethodName; error: Error; left: number }[] = [];

  async function note(method: MethodName, request: unknown): Promise<void> {
    calls.push({ method, request: structuredClone(request) });
    await fake.before[method]?.();
    const fault = faults.find((each) => each.method === method && each.left > 0);
    if (fault === undefined) return;
    fault.left -= 1;
    throw fault.error;
  }

  function find(datasetId: string): HeldDataset {
    const held = datasets.get(datasetId);
    if (held === undefined) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found`);
    return held;
  }

  function ofResource({ datasetId, crUid }: { readonly datasetId: string; readonly crUid: string }): HeldDataset {
    const held = find(datasetId);
    if (held.crUid !== crUid) throw engramError('OwnedByAnother', 'Another resource manages it.');
    return held;
  }

  const fake: FakeDatasetServices = {
    ...{
      calls,
      datasets,
      started,
      known,
      drifted: false,
      unused: null,
      migrationAnswers: [],
      erasureAnswers: [],
      before: {},
    },
    ...{ snapshots: [], snapshotAnswers: [], restoreAnswers: [] },
    fail: (method, error, times = 1) => void faults.push({ method, error, left: times }),
    heal() {
      faults = [];
    },
    countOf: (method) => calls.filter((call) => call.method === method).length,
    put(dataset) {
      const held = { ...dataset, crUid: null, grants: [], byHand: [], configuration: {}, statistics: NO_STATISTICS };
      datasets.set(dataset.id, held);
      return held;
    },
    async ensureDataset(request) {
      await note('ensureDataset', request);
      const { crUid, tenantId, name, datasetId } = request;
      if (datasetId !== undefined) find(datasetId);
      const all = [...datasets.values()];
      const held =
        all.find((each) => each.crUid === crUid) ??
        all.find((each) => each.tenantId === tenantId && (each.id === datasetId || each.name === name));
      if (held !== undefined && held.crUid !== null && held.crUid !== crUid) {
        throw engramError('OwnedByAnother', 'Another resource manages it.');
      }
      const dataset = held ?? fake.put({ id: randomUUID(), tenantId, name });
      dataset.crUid = crUid;
      return {
        created: held === undefined,
        dataset: {
          ...{ id: asId(dataset.id), name: dataset.name, tenant: tenantId, ownerId: asId('owner') },
          ...{ createdAt: '2026-08-01T00:00:00+00:00', updatedAt: null },
        },
      };
    },
    async syncGrants(request) {
      await note('syncGrants', request);
      return syncGrants(ofResource(request), request, known);
    },
    async setConfiguration(request) {
      await note('setConfiguration', request);
      const { graphModel, prompt, chunking } = request;
      ofResource(request).configuration = structuredClone({
        ...(graphModel === undefined ? {} : { graphModel }),
        ...(prompt === undefined ? {} : { prompt }),
        ...(chunking === undefined ? {} : { chunking }),
      });
      const hash = (value: unknown) => (value === undefined ? null : `sha256:${JSON.stringify(value).length}`);
      return {
        ...{ graphModelHash: hash(graphModel), promptHash: hash(prompt), chunkingHash: hash(chunking) },
        drifted: fake.drifted,
        unused: fake.unused,
      };
    },
    async setRetention(request) {
      await note('setRetention', request);
      ofResource({ datasetId: asId(request.datasetId ?? ''), crUid: request.crUid }).itemsMs = request.itemsMs;
    },
    async migrateEmbedding(request) {
      await note('migrateEmbedding', request);
      ofResource(request).embedding = request.embedding;
      return fake.migrationAnswers.shift() ?? { embedding: null, migration: null, failure: null };
    },
    async statistics(request) {
      await note('statistics', request);
      return structuredClone(find(request.datasetId).statistics);
    },
    async start(request) {
      await note('start', request);
      const { datasetId, pipeline, dueAt } = request;
      const isSame = (each: StartRequest) =>
        each.datasetId === datasetId && each.pipeline === pipeline && each.dueAt === dueAt;
      if (dueAt === undefined || !started.some(isSame)) started.push(request);
    },
    async takeSnapshot(request) {
      await note('takeSnapshot', request);
      const { tenantId, datasetId, name } = request;
      ofResource(request);
      const answer = fake.snapshotAnswers.shift();
      if (answer !== undefined) return answer;
      const known = fake.snapshots.find((each) => each.name === name);
      const snapshot = known ?? {
        ...{ name, tenantId, datasetId, at: '2026-08-01T03:00:00.000Z', items: 2, sizeBytes: 10, sha256: 'aa' },
        place: request.place === null ? 'the installation' : `s3://${request.place.bucket}/`,
      };
      if (known === undefined) fake.snapshots.unshift(snapshot);
      return { snapshot, done: 2, total: 2, failure: null };
    },
    async listSnapshots(request) {
      await note('listSnapshots', request);
      return { snapshots: fake.snapshots.filter(({ datasetId }) => datasetId === request.datasetId) };
    },
    async pruneSnapshots(request) {
      await note('pruneSnapshots', request);
      return { removed: fake.snapshots.splice(request.keep).map(({ name }) => name) };
    },
    async restoreDataset(request) {
      await note('restoreDataset', request);
      const answer = fake.restoreAnswers.shift();
      if (answer !== undefined) return answer;
      const { crUid, tenantId, name } = request;
      const held = fake.put({ id: randomUUID(), tenantId, name });
      held.crUid = crUid;
      return { datasetId: asId(held.id), step: '', done: 1, total: 1, failure: null };
    },
    async eraseDataset(request) {
      await note('eraseDataset', request);
      const receipt = receipts.get(request.crUid);
      if (receipt !== undefined) return { ...ERASED, receipt };
      const held = ofResource(request);
      erasing.add(request.crUid);
      const answer = fake.erasureAnswers.shift();
      if (answer !== undefined) return answer;
      erased.push(held);
      datasets.delete(request.datasetId);
      receipts.set(request.crUid, `{"receipt":"${request.datasetId}"}`);
      return { ...ERASED, receipt: `{"receipt":"${request.datasetId}"}` };
    },
    async findManaged(request) {
      await note('findManaged', request);
      const held = [...datasets.values(), ...erased].find(({ crUid }) => crUid === request.crUid);
      if (held === undefined) return null;
      const isErasing = erasing.has(request.crUid);
      return { tenantId: asId(held.tenantId), datasetId: asId(held.id), isErasing };
    },
    async releaseDataset(request) {
      await note('releaseDataset', request);
      const held = ofResource(request);
      if (erasing.has(request.crUid)) throw engramError('ConflictError', 'The dataset is being erased.');
      held.crUid = null;
      return { released: true };
    },
  };
  return fake;
}

const ERASED: ErasureProgress = { erased: true, step: '', removed: {}, residue: 0, receipt: null, failure: null };

function syncGrants(held: HeldDataset, request: SyncGrantsRequest, known: ReadonlySet<string>) {
  const isKnown = (holder: string) => holder.startsWith('tenant/') || known.has(holder);
  const wanted = request.grants.filter(({ holder }) => isKnown(printed(holder)));
  const grants = wanted.map(({ holder, permissions }) => `${printed(holder)}: ${permissions.join(',')}`);
  const added = grants.filter((grant) => !held.grants.includes(grant)).length;
  const gone = [...held.grants.filter((grant) => !grants.includes(grant)), ...(request.exclusive ? held.byHand : [])];
  held.grants = grants;
  if (request.exclusive) held.byHand = [];
  const unknownPrincipals = request.grants.map(({ holder }) => printed(holder)).filter((holder) => !isKnown(holder));
  return { added, removed: gone.length, unknownPrincipals: unknownPrincipals.sort() };
}

function printed(holder: DeclaredGrant['holder']): string {
  if ('userEmail' in holder) return `user/${holder.userEmail}`;
  return 'roleName' in holder ? `role/${holder.roleName}` : `tenant/${holder.tenantId}`;
}

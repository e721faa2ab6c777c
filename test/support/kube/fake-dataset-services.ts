import { randomUUID } from 'node:crypto';
import type { DatasetId, UserId } from '../../../services/common/kernel/brand.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { Principal } from '../../../services/common/kernel/principal.ts';
import type {
  AnswerOf,
  DeclaredGrant,
  EmbeddingState,
  ErasureProgress,
  RequestOf,
  SnapshotInfo,
} from '../../../services/common/platform/messaging/messages.ts';
import type { Serve } from './fake-services.ts';
import type { FakeTenants } from './fake-tenant-services.ts';

interface HeldDataset {
  readonly id: string;
  readonly tenantId: string;
  name: string;
  crUid: string | null;
  /** Declared grants, as `user/ana@x: read,write`. */
  grants: readonly string[];
  /** Grants of users. */
  byHand: readonly string[];
  configuration: Pick<RequestOf<'cognify.SetDatasetConfiguration'>, 'graphModel' | 'prompt' | 'chunking'>;
  /** Declared retention of items. */
  itemsMs?: number | undefined;
  statistics: AnswerOf<'ingest.DatasetStatistics'>;
  /** The declared one. */
  embedding?: RequestOf<'cognify.MigrateEmbedding'>['embedding'];
}

interface StartedRun {
  readonly pipeline: 'cognify' | 'improve';
  readonly datasetId: string;
  readonly name: string;
  readonly dueAt: string | undefined;
}

interface FakeSource {
  declared: RequestOf<'integrations.SyncSources'>['sources'][number];
  /** Its state but its name; at first it is being imported. */
  state: Omit<AnswerOf<'integrations.SyncSources'>['sources'][number], 'name'>;
}

const BEGUN: FakeSource['state'] = {
  connected: true,
  importing: true,
  lastSyncedAt: null,
  nextSyncAt: null,
  items: 0,
  failed: 0,
  failure: null,
};

/** Datasets as the services hold them. */
export interface FakeDatasets {
  readonly datasets: Map<string, HeldDataset>;
  readonly started: readonly StartedRun[];
  /** Holders that the tenant knows: `user/ana@acme.example.com`, `role/support`. Tenants are always known. */
  readonly known: Set<string>;
  drifted: boolean;
  unused: string | null;
  /** Next answers of `migrateEmbedding`; then there is nothing to do. */
  migrationAnswers: EmbeddingState[];
  /** Newest first. */
  snapshots: SnapshotInfo[];
  /** Next answers of `takeSnapshot` and `restoreDataset`; then they succeed. */
  snapshotAnswers: AnswerOf<'ingest.TakeSnapshot'>[];
  restoreAnswers: AnswerOf<'ingest.RestoreDataset'>[];
  /** Connections by the name of their source, as declared last. */
  readonly sources: Map<string, FakeSource>;
  /** Creates a dataset as a user does, without a resource. */
  put(dataset: { readonly id: string; readonly tenantId: string; readonly name: string }): HeldDataset;
}

const NO_STATISTICS: AnswerOf<'ingest.DatasetStatistics'> = {
  items: 0,
  chunks: 0,
  nodes: 0,
  edges: 0,
  pending: 0,
  failed: 0,
  lastCognifiedAt: null,
  lagSeconds: 0,
  writer: null,
  activeRun: null,
};

/** Adds the datasets to the tenants, which answer some of the methods for both. */
export function serveDatasets(serve: Serve, ofTenants: FakeTenants): FakeTenants & FakeDatasets {
  const datasets = new Map<string, HeldDataset>();
  const started: StartedRun[] = [];
  const known = new Set<string>();
  const receipts = new Map<string, string>();
  /** Uids of resources whose dataset is being erased or was. */
  const erasing = new Set<string>();
  const erased: HeldDataset[] = [];
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

  const state: FakeDatasets = {
    datasets,
    started,
    known,
    drifted: false,
    unused: null,
    migrationAnswers: [],
    snapshots: [],
    snapshotAnswers: [],
    restoreAnswers: [],
    sources: new Map(),
    put(dataset) {
      const held = { ...dataset, crUid: null, grants: [], byHand: [], configuration: {}, statistics: NO_STATISTICS };
      datasets.set(dataset.id, held);
      return held;
    },
  };
  const fake = Object.assign(ofTenants, state);

  serve('auth.EnsureDataset', (request) => {
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
        id: asId<DatasetId>(dataset.id),
        name: dataset.name,
        tenant: tenantId,
        ownerId: asId<UserId>('owner'),
        createdAt: '2026-08-01T00:00:00+00:00',
        updatedAt: null,
      },
    };
  });
  serve('auth.SyncGrants', (request) => {
    return changeGrants(ofResource(request), request, known);
  });
  serve('cognify.SetDatasetConfiguration', (request) => {
    const { graphModel, prompt, chunking } = request;
    ofResource(request).configuration = structuredClone({
      ...(graphModel === undefined ? {} : { graphModel }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(chunking === undefined ? {} : { chunking }),
    });
    const hash = (value: unknown) => (value === undefined ? null : `sha256:${JSON.stringify(value).length}`);
    return {
      graphModelHash: hash(graphModel),
      promptHash: hash(prompt),
      chunkingHash: hash(chunking),
      drifted: fake.drifted,
      unused: fake.unused,
    };
  });
  serve('ingest.SetRetention', (request) => {
    const { datasetId, crUid, itemsMs } = request;
    if (datasetId === undefined) ofTenants.keep(request);
    else ofResource({ datasetId, crUid }).itemsMs = itemsMs;
    return {};
  });
  serve('cognify.MigrateEmbedding', (request) => {
    ofResource(request).embedding = request.embedding;
    return fake.migrationAnswers.shift() ?? { embedding: null, migration: null, failure: null };
  });
  serve('ingest.DatasetStatistics', ({ datasetId }) => structuredClone(find(datasetId).statistics));
  const start = ({ datasetId, pipeline, dueAt, name }: StartedRun) => {
    const isSame = (each: StartedRun) =>
      each.datasetId === datasetId && each.pipeline === pipeline && each.dueAt === dueAt;
    if (dueAt === undefined || !started.some(isSame)) started.push({ datasetId, pipeline, dueAt, name });
  };
  serve('auth.GetPrincipal', ({ userId, tenant }) => ({
    principal: { id: userId, email: 'owner@acme.example.com', tenant, isSuperuser: false } as Principal,
    token: null,
  }));
  serve('cognify.StartRun', ({ dataset, dueAt }) => {
    start({ pipeline: 'cognify', datasetId: dataset.id, name: dataset.name, dueAt });
    return {} as never;
  });
  serve('improve.Improve', ({ dataset, dueAt }) => {
    start({ pipeline: 'improve', datasetId: dataset.id, name: dataset.name, dueAt });
    return { result: {}, error: null };
  });
  serve('ingest.TakeSnapshot', (request) => {
    const { tenantId, datasetId, name } = request;
    ofResource(request);
    const answer = fake.snapshotAnswers.shift();
    if (answer !== undefined) return answer;
    const known = fake.snapshots.find((each) => each.name === name);
    const snapshot = known ?? {
      name,
      tenantId,
      datasetId,
      at: '2026-08-01T03:00:00.000Z',
      items: 2,
      sizeBytes: 10,
      sha256: 'aa',
      place: request.place === null ? 'the installation' : `s3://${request.place.bucket}/`,
    };
    if (known === undefined) fake.snapshots.unshift(snapshot);
    return { snapshot, done: 2, total: 2, failure: null };
  });
  serve('ingest.ListSnapshots', (request) => {
    return { snapshots: fake.snapshots.filter(({ datasetId }) => datasetId === request.datasetId) };
  });
  serve('ingest.PruneSnapshots', (request) => {
    return { removed: fake.snapshots.splice(request.keep).map(({ name }) => name) };
  });
  serve('integrations.SyncSources', (request) => {
    const { sources: held } = fake;
    if (!request.release) ofResource(request);
    const names = request.sources.map(({ name }) => name);
    const ended = [...held.keys()].filter((name) => !names.includes(name));
    for (const name of ended) held.delete(name);
    const sources = request.sources.map((declared) => {
      const { name } = declared;
      const before = held.get(name);
      if (declared.hold && before === undefined) {
        return { name, ...BEGUN, connected: false, importing: false };
      }
      const now = before ?? { declared, state: BEGUN };
      if (!declared.hold) now.declared = structuredClone(declared);
      held.set(name, now);
      return { name, ...now.state };
    });
    return { sources, ended };
  });
  serve('ingest.RestoreDataset', (request) => {
    const answer = fake.restoreAnswers.shift();
    if (answer !== undefined) return answer;
    const { crUid, tenantId, name } = request;
    const held = fake.put({ id: randomUUID(), tenantId, name });
    held.crUid = crUid;
    return { datasetId: asId<DatasetId>(held.id), step: '', done: 1, total: 1, failure: null };
  });
  serve('ingest.EraseDataset', (request) => {
    const receipt = receipts.get(request.crUid);
    if (receipt !== undefined) return { progress: { ...ERASED, receipt } };
    const held = ofResource(request);
    erasing.add(request.crUid);
    const answer = ofTenants.erasureAnswers.shift();
    if (answer !== undefined) return { progress: answer };
    erased.push(held);
    datasets.delete(request.datasetId);
    receipts.set(request.crUid, `{"receipt":"${request.datasetId}"}`);
    return { progress: { ...ERASED, receipt: `{"receipt":"${request.datasetId}"}` } };
  });
  serve('auth.FindManaged', ({ crUid: uid }) => {
    const held = [...datasets.values(), ...erased].find(({ crUid }) => crUid === uid);
    if (held === undefined) return { managed: ofTenants.managedBy(uid) };
    const isErasing = erasing.has(uid);
    return { managed: { tenantId: asId(held.tenantId), datasetId: asId(held.id), isErasing } };
  });
  serve('auth.ReleaseDataset', (request) => {
    const held = ofResource(request);
    if (erasing.has(request.crUid)) throw engramError('ConflictError', 'The dataset is being erased.');
    held.crUid = null;
    return { released: true };
  });
  return fake;
}

const ERASED: ErasureProgress = { erased: true, step: '', removed: {}, residue: 0, receipt: null, failure: null };

function changeGrants(held: HeldDataset, request: RequestOf<'auth.SyncGrants'>, known: ReadonlySet<string>) {
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

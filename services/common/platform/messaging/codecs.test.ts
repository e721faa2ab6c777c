import { expect } from 'chai';
import fc from 'fast-check';
import { CAPABILITIES } from '../../domain/capabilities.ts';
import type { DataItem } from '../../domain/data-item.ts';
import type { RunEvent, RunState } from '../../domain/run.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { dataItemId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { PERMISSIONS, type Principal } from '../../kernel/principal.ts';
import type { Codec } from './codec.ts';
import * as auth from './methods/auth.ts';
import * as authManaged from './methods/auth-managed.ts';
import * as cognify from './methods/cognify.ts';
import * as cognifyManaged from './methods/cognify-managed.ts';
import * as improve from './methods/improve.ts';
import * as ingest from './methods/ingest.ts';
import * as ingestManaged from './methods/ingest-managed.ts';
import * as search from './methods/search.ts';

const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
/** Also what is no Unicode. */
const anyText = fc.string({ unit: 'binary' });
const id = fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<never>;
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
/** As JSON has them: without -0. */
const object = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
const count = fc.nat();

const principal: fc.Arbitrary<Principal> = fc.record({
  ...{ id, email: text, tenant: id, isSuperuser: fc.boolean(), parentId: orNull(id) },
});
const presentedKey = fc.record(
  {
    ...{ id: text, permissions: orNull(fc.array(fc.constantFrom(...PERMISSIONS))), datasets: orNull(fc.array(id)) },
    tenant: id,
  },
  { requiredKeys: ['id', 'permissions', 'datasets'] },
);
const withKey: fc.Arbitrary<Principal> = fc
  .tuple(principal, fc.option(presentedKey, { nil: undefined }))
  .map(([user, key]) => (key === undefined ? user : { ...user, key }));
const dataset: fc.Arbitrary<DatasetRef> = fc.record({
  ...{ id, name: text, ownerId: id, tenant: id, createdAt: text, updatedAt: orNull(text) },
});
const itemFields = {
  ...{ id, name: text, fileName: text, label: orNull(text), ownerId: id, extension: text, mimeType: text },
  ...{ format: text, sizeBytes: fc.maxSafeNat(), contentHash: text, nodeSets: fc.array(text) },
  ...{ externalMetadata: object, importanceWeight: fc.double({ min: 0, max: 1, noNaN: true }) },
  ...{ createdAt: text, updatedAt: orNull(text) },
};
const item: fc.Arbitrary<DataItem> = fc.oneof(fc.record(itemFields), fc.record({ ...itemFields, revision: text }));
const status = fc.constantFrom(
  'DATASET_PROCESSING_STARTED' as const,
  'DATASET_PROCESSING_COMPLETED' as const,
  'DATASET_PROCESSING_ERRORED' as const,
);
const runItem = fc.record({
  item: id,
  status: fc.constantFrom('completed' as const, 'already_completed' as const, 'errored' as const),
});
const run: fc.Arbitrary<RunState> = fc.record({
  ...{ id, pipeline: text, dataset: id, datasetName: text, status, items: fc.array(runItem), counts: orNull(object) },
  progress: orNull(fc.record({ completedItems: count, totalItems: count, currentStage: orNull(text) })),
  ...{ errorClass: orNull(text), errorMessage: orNull(text), errorStatus: orNull(fc.nat({ max: 599 })) },
  ...{ startedAt: text, endedAt: orNull(text) },
});
const event: fc.Arbitrary<RunEvent> = run.chain((state) => {
  const told = fc.constant({ ...state, items: [] });
  return fc.oneof(
    fc.record({ kind: fc.constantFrom('started' as const, 'completed' as const, 'errored' as const), run: told }),
    fc.record({ kind: fc.constant('progress' as const), run: told, stage: text, stageIndex: count, stageTotal: count }),
    fc.record({ kind: fc.constant('interrupted' as const), run: told, reason: text }),
  );
});
const kind = fc.constantFrom('api-key' as const, 'bearer' as const, 'cookie' as const);
const options: fc.Arbitrary<cognify.CognifyOptions> = fc.record(
  {
    ...{ graphModel: object, customPrompt: text, chunkSize: fc.integer({ min: -5, max: 10_000 }) },
    ...{ chunksPerBatch: count, dataPerBatch: count, ontologyKeys: fc.array(text, { minLength: 1 }) },
    likeItem: text as fc.Arbitrary<DataItemId>,
  },
  { requiredKeys: [] },
);
const ids = fc.array(text);

async function survives<Value>(codec: Promise<Codec<Value>>, values: fc.Arbitrary<Value>): Promise<void> {
  const { encode, decode } = await codec;
  fc.assert(
    fc.property(values, (value) => {
      expect(decode(encode(value))).to.deep.equal(value);
    }),
    { numRuns: 200 },
  );
}

const request = <Value>(method: { codec(): Promise<{ readonly request: Codec<Value> }> }) =>
  method.codec().then((codec) => codec.request);
const response = <Value>(method: { codec(): Promise<{ readonly response: Codec<Value> }> }) =>
  method.codec().then((codec) => codec.response);

describe('messages of the services', () => {
  it('keep every field of auth, and tell absent from empty', async () => {
    const credentials = fc.array(fc.record({ kind, value: text }));
    await survives(
      request(auth.authenticate),
      fc.record(
        { credentials, strict: fc.boolean(), host: text, unattended: fc.boolean() },
        { requiredKeys: ['credentials'] },
      ),
    );
    const tenantState = fc.constantFrom('Hibernated' as const, 'Disabled' as const, 'Erasing' as const);
    const identified = fc.record(
      { principal: orNull(withKey), required: fc.boolean(), posture: text, token: text, tenantState },
      { requiredKeys: ['principal', 'required', 'posture'] },
    );
    await survives(response(auth.authenticate), identified);
    await survives(
      request(auth.getPrincipal),
      fc.record(
        { userId: text, tenant: text, key: text, unattended: fc.boolean() },
        { requiredKeys: ['userId', 'tenant'] },
      ),
    );
    await survives(response(auth.getPrincipal), fc.record({ principal: orNull(principal) }));
    const query = { permission: fc.constantFrom(...PERMISSIONS), ids, names: ids };
    await survives(
      request(auth.resolveDatasets),
      fc.record(
        { ...query, createMissing: fc.boolean(), namesAmongPermitted: fc.boolean() },
        { requiredKeys: ['permission'] },
      ),
    );
    await survives(request(auth.heldCapabilities), fc.constant({}));
    await survives(response(auth.heldCapabilities), fc.record({ capabilities: fc.subarray([...CAPABILITIES]) }));
    await survives(response(auth.resolveDatasets), fc.record({ datasets: fc.array(dataset) }));
    await survives(request(auth.createDataset), fc.record({ name: text }));
    await survives(response(auth.createDataset), fc.record({ dataset }));
    await survives(request(auth.removeDataset), fc.record({ dataset }));
    await survives(response(auth.removeDataset), fc.record({ removed: fc.boolean() }));
  });

  it('keep every field of ingest and search', async () => {
    const page = fc.record({ dataset, limit: count, after: text, ids }, { requiredKeys: ['dataset', 'limit'] });
    await survives(request(ingest.datasetItems), page);
    await survives(response(ingest.datasetItems), fc.record({ items: fc.array(item), next: orNull(text) }));
    const document = fc.record({ key: text, name: text, text, nodeSets: fc.array(text), externalMetadata: object });
    await survives(request(ingest.keepDocuments), fc.record({ dataset, documents: fc.array(document) }));
    await survives(response(ingest.keepDocuments), fc.record({ itemIds: ids, added: count }));
    const file = { blobKey: text, fileName: text, mimeType: orNull(text), sizeBytes: fc.maxSafeNat() };
    const download = fc.record({ dataset, ...file, md5: text, sha256: text });
    await survives(request(ingest.takeDownload), download);
    await survives(response(ingest.takeDownload), fc.record({ itemId: text }));
    const entry = fc.record({
      ...{ question: anyText, context: anyText, answer: anyText, feedbackText: orNull(anyText) },
      ...{ feedbackScore: orNull(fc.integer({ min: 1, max: 5 })), usedContextIds: orNull(ids) },
      usedGraphElements: orNull(fc.record({ nodeIds: ids, edgeIds: ids }, { requiredKeys: [] })),
    });
    const spending = fc.record({
      ...{
        model: orNull(text),
        embeddingModel: orNull(text),
        tokensIn: count,
        tokensOut: count,
      },
      ...{ embeddingTokens: count },
    });
    await survives(
      request(ingest.appendSession),
      fc.record({ session: text, qaId: text, datasetId: orNull(text), entry, spending: orNull(spending) }),
    );
    await survives(response(ingest.appendSession), fc.record({ stored: fc.boolean() }));
    const lesson = fc.record({
      ...{ profile: fc.constant('qa' as const), section: fc.constantFrom('goals' as const, 'rules' as const) },
      ...{ content: anyText, confidence: fc.float({ min: 0, max: 1, noNaN: true }).map(Math.abs) },
    });
    const rating = fc.integer({ min: 1, max: 5 });
    const feedback = fc.record({ id: text, text: anyText, qaId: text, rating: orNull(rating), contextIds: ids });
    const contextRatings = fc.dictionary(fc.uuid(), fc.constantFrom('helpful' as const, 'harmful' as const), {
      noNullPrototype: true,
    });
    const said = { feedback: orNull(feedback), contextRatings, lessons: fc.array(lesson), servedIds: ids };
    await survives(request(ingest.noteOnTurn), fc.record({ session: text, note: fc.record(said) }));
    await survives(response(ingest.noteOnTurn), fc.record({ noted: fc.boolean() }));
    const step = {
      toolName: text,
      toolInput: object,
      toolOutput: orNull(text),
      success: fc.boolean(),
      durationMs: count,
    };
    const used = {
      ...{ skill: text, taskText: text, resultSummary: text, startedAtMs: count, latencyMs: count },
      ...{ candidateSkillIds: ids, toolTrace: fc.array(fc.record(step)), session: orNull(text) },
    };
    await survives(request(ingest.recordSkillRuns), fc.record({ dataset, runs: fc.array(fc.record(used)) }));
    await survives(response(ingest.recordSkillRuns), fc.record({ recorded: count }));
    const note = fc.record({ qaId: text, memifyMetadata: object, ofFeedback: orNull(count) });
    await survives(request(ingest.noteOnSession), fc.record({ session: text, notes: fc.array(note) }));
    await survives(response(ingest.noteOnSession), fc.record({ noted: count }));
    await survives(request(search.eraseSearched), fc.record({ dataset }));
    await survives(response(search.eraseSearched), fc.record({ removed: count, residue: count }));
    await survives(request(search.eraseAnswers), fc.record({ dataset, items: ids }));
    await survives(response(search.eraseAnswers), fc.record({ removed: count }));
    const place = fc.oneof(
      fc.record({ text, datasetId: text }),
      fc.record({ text, datasetName: text }),
      fc.record({ text }),
    );
    await survives(request(search.lookFor), place);
    const foundBy = fc.subarray([...search.FOUND_BY]);
    await survives(response(search.lookFor), fc.record({ foundBy, refusal: orNull(text) }));
  });

  it('keep every field of improve', async () => {
    await survives(
      request(improve.improve),
      fc.record({ dataset, sessions: ids, dueAt: text }, { requiredKeys: ['dataset', 'sessions'] }),
    );
    await survives(response(improve.improve), fc.record({ result: object, error: orNull(text) }));
    const items = fc.array(fc.uuid());
    await survives(request(improve.eraseLearned), fc.record({ dataset, items }, { requiredKeys: ['dataset'] }));
    await survives(response(improve.eraseLearned), fc.record({ removed: count, residue: count }));
  });

  it('keep every field of cognify', async () => {
    const started = { dataset, options, background: fc.boolean(), dueAt: text };
    const requiredKeys = ['dataset', 'options', 'background'] as const;
    await survives(request(cognify.startRun), fc.record(started, { requiredKeys: [...requiredKeys] }));
    await survives(response(cognify.startRun), fc.record({ run }));
    const error = fc.record({ name: text, message: text });
    const outcome = fc.constantFrom('succeeded' as const, 'failed' as const, 'noop' as const);
    const recorded = {
      dataset,
      pipeline: text,
      runId: text,
      status,
      items: ids,
      error,
      outcome,
      background: fc.boolean(),
      session: text,
    };
    await survives(
      request(cognify.recordRun),
      fc.record(recorded, { requiredKeys: ['dataset', 'pipeline', 'runId', 'status', 'items'] }),
    );
    await survives(response(cognify.getRun), fc.record({ run: orNull(run), tenant: orNull(text) }));
    await survives(request(cognify.runStatuses), fc.record({ datasets: fc.array(dataset), pipelines: ids }));
    await survives(response(cognify.runStatuses), fc.record({ runs: fc.array(run) }));
    const origin = { item: fc.uuid().map(dataItemId), generation: count };
    const edge = { source: text, target: text, relation: text, text, chunkId: text, statement: text };
    const triplets = fc.array(fc.record({ ordinal: count, payload: fc.record(edge), nodeSets: ids }));
    await survives(
      request(cognify.applyGraphPatch),
      fc.record({
        ...{ dataset, leaseToken: text },
        items: fc.array(fc.record({ ...origin, triplets })),
        gone: fc.array(fc.record(origin)),
      }),
    );
    await survives(response(cognify.applyGraphPatch), fc.record({ lostItems: fc.array(origin.item) }));
    const selection = fc.record({ dataset, items: ids, memoryOnly: fc.boolean() });
    await survives(request(cognify.eraseBuilt), selection);
    await survives(response(cognify.eraseBuilt), fc.record({ removed: object, residue: count, itemsReset: count }));
    await survives(cognify.runEvents.codec(), event);
  });

  it('keep every field of what is managed by resources in auth', async () => {
    const declared = { crUid: text, displayName: text, ownerEmail: text, hostNames: ids };
    const state = fc.constantFrom('Active' as const, 'Hibernated' as const, 'Disabled' as const);
    const passwords = { tenantId: text, ownerPasswordHash: text, ownerPassword: text };
    const hibernation = fc.record({ afterIdleMs: count, wakesOnRequest: fc.boolean() });
    const sleep = { hibernation, wake: fc.constant(true) };
    await survives(
      request(authManaged.ensureTenant),
      fc.record(
        { ...declared, state, ...passwords, ...sleep },
        { requiredKeys: [...Object.keys(declared), 'state'] as never },
      ),
    );
    await survives(
      response(authManaged.ensureTenant),
      fc.record({ tenantId: id, ownerId: id, created: fc.boolean(), corrected: ids, isAsleep: fc.boolean() }),
    );
    await survives(
      request(authManaged.setTenantKeys),
      fc.record({ tenantId: id, crUid: text, name: text, keySha256: ids }),
    );
    await survives(response(authManaged.setTenantKeys), fc.record({ added: count, removed: count }));
    await survives(request(authManaged.openCanary), fc.record({ tenantId: id, crUid: text }));
    await survives(response(authManaged.openCanary), fc.record({ dataset, principal, token: text }));
    const model = fc.record(
      { provider: text, model: text, endpoint: text, apiKey: text },
      { requiredKeys: ['provider', 'model'] },
    );
    await survives(
      request(authManaged.setTenantModel),
      fc.record({ tenantId: id, crUid: text, languageModel: model }, { requiredKeys: ['tenantId', 'crUid'] }),
    );
    await survives(response(authManaged.setTenantModel), fc.record({ changed: fc.boolean() }));
    const embedding = fc.record(
      { provider: text, model: text, dimensions: count, endpoint: text, apiKey: text },
      { requiredKeys: ['provider', 'model', 'dimensions'] },
    );
    await survives(
      request(authManaged.setTenantEmbedding),
      fc.record({ tenantId: id, crUid: text, embedding }, { requiredKeys: ['tenantId', 'crUid'] }),
    );
    await survives(response(authManaged.setTenantEmbedding), fc.record({ changed: fc.boolean() }));
    await survives(
      request(authManaged.ensureDataset),
      fc.record(
        { crUid: text, tenantId: id, name: text, datasetId: text },
        { requiredKeys: ['crUid', 'tenantId', 'name'] },
      ),
    );
    await survives(response(authManaged.ensureDataset), fc.record({ dataset, created: fc.boolean() }));
    const holder = fc.oneof(
      fc.record({ userEmail: text }),
      fc.record({ roleName: text }),
      fc.record({ tenantId: text }),
    );
    const grant = fc.record({ holder, permissions: fc.array(fc.constantFrom(...PERMISSIONS)) });
    const grants = { tenantId: id, datasetId: id, crUid: text, grants: fc.array(grant), exclusive: fc.boolean() };
    await survives(request(authManaged.syncGrants), fc.record(grants));
    const synced = fc.record({ added: count, removed: count, unknownPrincipals: ids });
    await survives(response(authManaged.syncGrants), synced);
    const thing = { tenantId: id, datasetId: id, crUid: text };
    await survives(request(authManaged.releaseDataset), fc.record(thing));
    const released = { tenantId: id, crUid: text, resource: text };
    const requiredKeys: ('tenantId' | 'crUid')[] = ['tenantId', 'crUid'];
    await survives(request(authManaged.releaseTenant), fc.record(released, { requiredKeys }));
    await survives(response(authManaged.releaseTenant), fc.record({ released: fc.boolean() }));
    await survives(request(authManaged.findManaged), fc.record({ crUid: text }));
    const managed = fc.record({ tenantId: id, datasetId: orNull(id), isErasing: fc.boolean() });
    await survives(response(authManaged.findManaged), fc.record({ managed: orNull(managed) }));
    await survives(request(authManaged.getEraser), fc.record({ tenantId: id, datasetId: id }));
    const eraser = fc.record({ principal: orNull(principal), token: text }, { requiredKeys: ['principal'] });
    await survives(response(authManaged.getEraser), eraser);
    await survives(request(authManaged.beginErasure), fc.record(thing, { requiredKeys: ['tenantId', 'crUid'] }));
    const begun = { receipt: orNull(text), dataset: orNull(dataset), principal: orNull(principal), datasetIds: ids };
    await survives(
      response(authManaged.beginErasure),
      fc.record({ ...begun, token: text }, { requiredKeys: ['receipt', 'dataset', 'principal', 'datasetIds'] }),
    );
    await survives(
      request(authManaged.endErasure),
      fc.record(
        { ...thing, begunAt: text, removed: object, kept: ids },
        { requiredKeys: ['tenantId', 'crUid', 'begunAt', 'removed', 'kept'] },
      ),
    );
    await survives(response(authManaged.endErasure), fc.record({ receipt: text }));
  });

  it('keep every field of what is managed by resources in ingest and cognify', async () => {
    const failure = orNull(fc.record({ name: text, message: text }));
    const progress = fc.record({
      ...{ erased: fc.boolean(), step: text, removed: object, residue: count, receipt: orNull(text), failure },
    });
    const thing = { tenantId: id, datasetId: id, crUid: text };
    await survives(request(ingestManaged.eraseDataset), fc.record(thing));
    await survives(response(ingestManaged.eraseDataset), fc.record({ progress }));
    await survives(request(ingestManaged.eraseTenant), fc.record({ tenantId: id, crUid: text }));
    await survives(response(ingestManaged.eraseTenant), fc.record({ progress }));
    await survives(
      request(ingestManaged.checkIsolation),
      fc.record({ tenantId: id, crUid: text, otherTenantIds: fc.array(id) }),
    );
    const leaks = fc.array(fc.record({ tenantId: id, seenByTenantId: id, way: text }));
    await survives(
      response(ingestManaged.checkIsolation),
      fc.record({ unproven: orNull(text), comparedTenantIds: fc.array(id), leaks }),
    );
    await survives(request(ingestManaged.removeCanary), fc.record({ tenantId: id, crUid: text }));
    await survives(response(ingestManaged.removeCanary), fc.record({ removed: fc.boolean() }));
    const writer = orNull(fc.record({ holder: text, fencingToken: count }));
    const activeRun = orNull(fc.record({ id: text, pipeline: text, startedAt: text }));
    const counts = { items: count, chunks: count, nodes: count, edges: count };
    const waiting = { pending: count, failed: count, lastCognifiedAt: orNull(text) };
    const lagSeconds = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.abs);
    await survives(request(ingestManaged.datasetStatistics), fc.record({ tenantId: id, datasetId: id }));
    await survives(
      response(ingestManaged.datasetStatistics),
      fc.record({ ...counts, ...waiting, lagSeconds, writer, activeRun }),
    );
    await survives(request(cognifyManaged.builtStatistics), fc.record({ dataset }));
    const built = { chunks: count, nodes: count, edges: count, failed: count, pendingSince: orNull(text) };
    const builtStatistics = { ...built, lastCognifiedAt: orNull(text), writer, activeRun };
    await survives(response(cognifyManaged.builtStatistics), fc.record(builtStatistics));
    const chunking = fc.record({ strategy: text, maxTokens: count }, { requiredKeys: ['strategy'] });
    await survives(
      request(cognifyManaged.setDatasetConfiguration),
      fc.record(
        { ...thing, graphModel: object, prompt: text, chunking },
        { requiredKeys: ['tenantId', 'datasetId', 'crUid'] },
      ),
    );
    const hashes = { graphModelHash: orNull(text), promptHash: orNull(text), chunkingHash: orNull(text) };
    await survives(
      response(cognifyManaged.setDatasetConfiguration),
      fc.record({ ...hashes, drifted: fc.boolean(), unused: orNull(text) }),
    );
    const model = { kind: fc.constantFrom('language' as const, 'embedding' as const), provider: text, model: text };
    const space = fc.record({ model: text, dimensions: count });
    await survives(
      request(cognifyManaged.migrateEmbedding),
      fc.record(
        { tenantId: id, datasetId: id, crUid: text, embedding: space },
        { requiredKeys: ['tenantId', 'datasetId', 'crUid'] },
      ),
    );
    const phase = fc.constantFrom('copying' as const, 'settling' as const);
    const migration = fc.record({ from: space, to: space, done: count, total: count, startedAt: text, phase });
    const held = fc.record({ name: text, message: text });
    await survives(
      response(cognifyManaged.migrateEmbedding),
      fc.record({ embedding: orNull(space), migration: orNull(migration), failure: orNull(held) }),
    );
    await survives(
      request(cognifyManaged.probeModel),
      fc.record(
        { ...model, endpoint: text, apiKey: text, dimensions: count },
        { requiredKeys: ['kind', 'provider', 'model'] },
      ),
    );
    const outcome = fc.constantFrom(
      'accepted' as const,
      'rejected' as const,
      'invalid' as const,
      'unreachable' as const,
    );
    await survives(response(cognifyManaged.probeModel), fc.record({ outcome, detail: text }));
  });

  it('carry objects of clients that are nested as deeply as a client may', async () => {
    let graphModel: JsonObject = { title: 'deep' };
    for (let level = 0; level < 498; level += 1) graphModel = { inner: graphModel };
    const codec = await request(cognify.startRun);
    const [sample] = fc.sample(dataset, 1);
    if (sample === undefined) throw new Error('no sample');
    const value = { dataset: sample, options: { graphModel }, background: false };
    expect(codec.decode(codec.encode(value))).to.deep.equal(value);
  });

  it('leave the items of a run out of its events', async () => {
    const [state] = fc.sample(run, 1);
    if (state === undefined) throw new Error('no sample');
    const many = { ...state, items: [{ item: state.dataset as never, status: 'completed' as const }] };
    const codec = await cognify.runEvents.codec();
    expect(codec.decode(codec.encode({ kind: 'completed', run: many })).run.items).to.deep.equal([]);
  });

  it('refuse a name that UTF-8 cannot carry where a dataset would get another one', async () => {
    const codec = await request(auth.createDataset);
    expect(() => codec.encode({ name: 'half\ud800' })).to.throw('broken Unicode');
  });

  it('refuse values that this release does not know', async () => {
    const codec = await request(auth.resolveDatasets);
    expect(() => codec.decode(Uint8Array.from([0x08, 0x63]))).to.throw('unknown enum value 99');
    expect(() => codec.decode(Uint8Array.from([0xff]))).to.throw();
  });
});

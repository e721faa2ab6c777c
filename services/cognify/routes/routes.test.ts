import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { createWorld, startCognify, type TestCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Extractor } from '../../common/ports/extractor.ts';

type RunInfos = Record<string, Record<string, unknown>>;

async function failure(reply: Promise<unknown>): Promise<{ status: number; body: unknown }> {
  try {
    await reply;
  } catch (error) {
    if (error instanceof HttpError) return { status: error.status, body: error.body };
    if (isEngramError(error)) return { status: error.status, body: { detail: error.detail } };
    throw error;
  }
  throw new Error('the request succeeded');
}

const refusing = () => Promise.reject(new Error('no route to ada@example.com'));
const throwing = (error: Error): Extractor => ({ version: 'throwing/1', extract: () => Promise.reject(error) });

async function built(texts: readonly string[]): Promise<{ world: TestWorld; cognify: TestCognify }> {
  const world = await createWorld();
  for (const [index, content] of texts.entries()) await world.addText(`text ${index}`, content);
  return { world, cognify: await startCognify(world) };
}

describe('POST /api/v1/cognify', () => {
  const post = (cognify: TestCognify, body: unknown) => cognify.call('POST', '/api/v1/cognify', { body });

  it('answers a blocking request with the ended run of each dataset', async () => {
    const { world, cognify } = await built(['Ada met Grace.']);
    await using _ = cognify;
    const [item] = world.items;
    const reply = (await post(cognify, { datasets: ['notes'] })).json as RunInfos;
    const run = reply[world.dataset.id] ?? {};
    const { payload, data_ingestion_info: info, ...rest } = run;
    const common = { pipeline_run_id: rest['pipeline_run_id'], dataset_id: world.dataset.id, dataset_name: 'notes' };
    expect(rest).to.deep.equal({ status: 'PipelineRunCompleted', ...common });
    expect(payload).to.include({ documents: 1, chunks: 1 }).and.have.property('duration_ms');
    expect(info).to.deep.equal([
      {
        run_info: { status: 'PipelineRunCompleted', ...common, payload: null, data_ingestion_info: null },
        data_id: item?.id,
      },
    ]);
    const again = (await post(cognify, { dataset_ids: [world.dataset.id] })).json as RunInfos;
    expect(JSON.stringify(again)).to.contain('PipelineRunAlreadyCompleted');
  });

  it('answers a background request with the started run at once', async () => {
    const { world, cognify } = await built(['Ada met Grace.']);
    await using _ = cognify;
    const reply = (await post(cognify, { dataset_ids: [world.dataset.id], run_in_background: true })).json as RunInfos;
    const { pipeline_run_id: id, ...rest } = reply[world.dataset.id] ?? {};
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(rest).to.deep.equal({
      status: 'PipelineRunStarted',
      dataset_id: world.dataset.id,
      dataset_name: 'notes',
      payload: [],
      data_ingestion_info: null,
    });
  });

  it('refuses invalid requests as in the contract', async () => {
    const { cognify } = await built([]);
    await using _ = cognify;
    const missing = { error: 'No datasets or dataset_ids provided', detail: null };
    expect(await failure(post(cognify, {}))).to.deep.equal({ status: 400, body: missing });
    expect(await failure(post(cognify, { datasets: [], dataset_ids: [] }))).to.deep.equal({
      status: 400,
      body: missing,
    });
    const unknown = { error: "Ontology key 'animals' not found", detail: null };
    expect(await failure(post(cognify, { datasets: ['notes'], ontology_key: ['animals'] }))).to.deep.equal({
      status: 409,
      body: unknown,
    });
    expect((await failure(post(cognify, { datasets: ['notes'], ontology_key: ['no key!'] }))).body).to.deep.equal({
      error: 'Invalid ontology key',
      detail: null,
    });
    expect(await failure(post(cognify, { datasets: ['notes'], chunk_size: -3 }))).to.deep.equal({
      status: 400,
      body: { detail: 'chunk_size must be a positive number of tokens, got -3 [InvalidChunkSizeError]' },
    });
    expect(await failure(post(cognify, { datasets: ['notes'], graph_model: { type: 'object' } }))).to.deep.equal({
      status: 400,
      body: { detail: "graph_model must be a JSON schema with a 'title'. [InvalidGraphModelError]" },
    });
    expect((await failure(post(cognify, { dataset_ids: [randomUUID()] }))).status).to.equal(403);
  });

  it('answers a used-up budget with 402 and its own body', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const extractor = throwing(engramError('LLMPaymentRequiredError', 'LLM budget exhausted: no more'));
    await using cognify = await startCognify(world, { extractor });
    expect(await failure(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
      status: 402,
      body: {
        error: 'Token budget exhausted',
        detail: 'LLMPaymentRequiredError: LLM budget exhausted: no more (Status code: 402)',
      },
    });
  });

  it('answers other errors of a run with their status, unknown ones with a scrubbed 500', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    {
      await using cognify = await startCognify(world, {
        extractor: throwing(engramError('TooManyRequestsError', 'the provider throttles')),
      });
      expect(await failure(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
        status: 429,
        body: { detail: 'the provider throttles [TooManyRequestsError]' },
      });
    }
    {
      await using cognify = await startCognify(world, {
        embedder: { ...createHashingEmbedder({ dimensions: 64 }), embed: refusing },
      });
      expect(await failure(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
        status: 500,
        body: { error: 'Internal server error', detail: "'one' could not be built: no route to [email]" },
      });
    }
    await using cognify = await startCognify(world, { models: { missingModelKey: 'LLM API key is not set.' } });
    expect(await failure(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
      status: 500,
      body: { error: 'Pipeline run errored', detail: 'LLM API key is not set. [LLMAPIKeyNotSetError]' },
    });
  });
});

describe('status routes', () => {
  it('answer flat for one pipeline, nested for several', async () => {
    const { world, cognify } = await built(['Ada met Grace.']);
    await using _ = cognify;
    const { principal, dataset } = world;
    const get = async (path: string, query: object) => (await cognify.call('GET', path, { query })).json;
    expect(await get('/api/v1/datasets/status', {})).to.deep.equal({});
    const run = { dataset, pipeline: 'add_pipeline', runId: randomUUID() };
    const context = { ...CALL, principal };
    await cognify.messenger.call('cognify.RecordRun', { ...run, status: 'DATASET_PROCESSING_STARTED' }, context);
    await cognify.messenger.call(
      'cognify.RecordRun',
      { ...run, status: 'DATASET_PROCESSING_COMPLETED', items: [] },
      context,
    );
    const both = { pipeline: ['cognify_pipeline', 'add_pipeline', 'cognify_pipeline'], dataset: [dataset.id] };
    expect(await get('/api/v1/datasets/status', both)).to.deep.equal({
      [dataset.id]: { add_pipeline: 'DATASET_PROCESSING_COMPLETED' },
    });
    await cognify.run();
    const completed = 'DATASET_PROCESSING_COMPLETED';
    expect(await get('/api/v1/datasets/status', {})).to.deep.equal({ [dataset.id]: completed });
    expect(await get('/api/v1/datasets/status', both)).to.deep.equal({
      [dataset.id]: { cognify_pipeline: completed, add_pipeline: completed },
    });
    expect(await get('/api/v1/datasets/status/progress', {})).to.deep.equal({
      [dataset.id]: { status: completed, progress: null },
    });
  });

  it('answer 409 for a dataset the caller may not read', async () => {
    const { cognify } = await built([]);
    await using _ = cognify;
    const query = { dataset: [randomUUID()] };
    expect(await failure(cognify.call('GET', '/api/v1/datasets/status', { query }))).to.deep.equal({
      status: 409,
      body: { error: 'Unable to retrieve dataset statuses.' },
    });
    expect(await failure(cognify.call('GET', '/api/v1/datasets/status/progress', { query }))).to.deep.equal({
      status: 409,
      body: { error: 'Unable to retrieve dataset progress.' },
    });
  });
});

describe('graph routes', () => {
  it('count nodes and edges per dataset, again after a change', async () => {
    const { world, cognify } = await built(['Ada met Grace.']);
    await using _ = cognify;
    const get = async () =>
      (await cognify.call('GET', '/api/v1/datasets/graph-summary', { query: {} })).json as Record<string, unknown>[];
    const empty = { datasetId: world.dataset.id, pipelineRunId: null, numNodes: 0, numEdges: 0, computedAt: null };
    expect(await get()).to.deep.equal([empty]);
    const run = await cognify.run();
    const [first] = await get();
    const [again] = await get();
    expect(first).to.include({ pipelineRunId: run.id }).and.deep.equal(again);
    expect(first?.['numNodes']).to.be.above(3);
    await world.addText('more', 'Alan met Kurt.');
    await cognify.run();
    const [grown] = await get();
    expect(Number(grown?.['numNodes'])).to.be.above(Number(first?.['numNodes']));
  });
});

describe('GET /api/v1/activity/pipeline-runs', () => {
  it('lists rows newest first in pages, with names of readable datasets only', async () => {
    const { world, cognify } = await built(['Ada met Grace.']);
    await using _ = cognify;
    const run = await cognify.run();
    const get = async (query: object, principal = world.principal) =>
      (await cognify.call('GET', '/api/v1/activity/pipeline-runs', { query, principal })).json as Record<
        string,
        unknown
      >[];
    const rows = await get({});
    expect(rows.map(({ status }) => status)).to.deep.equal([
      'DATASET_PROCESSING_COMPLETED',
      'DATASET_PROCESSING_STARTED',
    ]);
    expect(rows[0]).to.include({
      kind: 'pipeline',
      pipeline_name: 'cognify_pipeline',
      pipeline_run_id: run.id,
      dataset_name: 'notes',
      owner_email: 'ada@example.com',
      outcome: 'succeeded',
      background: true,
    });
    expect(await get({ limit: 1, offset: 1 })).to.deep.equal([rows[1]]);
    expect(await get({ pipeline_name: 'add_pipeline' })).to.deep.equal([]);
    const stranger = { ...world.principal, id: asId<typeof world.principal.id>(randomUUID()) };
    expect(await get({}, stranger)).to.deep.equal([]);
    expect((await failure(get({ dataset_id: world.dataset.id }, stranger))).status).to.equal(403);
  });
});

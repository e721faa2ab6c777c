import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createWorld, startCognify, type TestCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Extractor } from '../../common/ports/extractor.ts';

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

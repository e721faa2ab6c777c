import { expect } from 'chai';
import { createWorld, startCognify, type TestCognify } from '../../../test/support/cognify-service.ts';
import { failureOf } from '../../../test/support/refusal-of.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import type { Extractor } from '../../common/ports/extractor.ts';

const refusing = () => Promise.reject(new Error('no route to ada@example.com'));
const throwing = (error: Error): Extractor => ({ version: 'throwing/1', extract: () => Promise.reject(error) });

describe('POST /api/v1/cognify', () => {
  const post = (cognify: TestCognify, body: unknown) => cognify.call('POST', '/api/v1/cognify', { body });

  it('answers other errors of a run with their status, unknown ones with a scrubbed 500', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    {
      await using cognify = await startCognify(world, {
        extractor: throwing(engramError('TooManyRequestsError', 'the provider throttles')),
      });
      expect(await failureOf(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
        status: 429,
        body: { detail: 'the provider throttles [TooManyRequestsError]' },
      });
    }
    {
      await using cognify = await startCognify(world, {
        embedder: { ...createHashingEmbedder({ dimensions: 64 }), embed: refusing },
      });
      expect(await failureOf(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
        status: 500,
        body: { error: 'Internal server error', detail: "'one' could not be built: no route to [email]" },
      });
    }
    await using cognify = await startCognify(world, { models: { missingModelKey: 'LLM API key is not set.' } });
    expect(await failureOf(post(cognify, { datasets: ['notes'] }))).to.deep.equal({
      status: 500,
      body: { error: 'Pipeline run errored', detail: 'LLM API key is not set. [LLMAPIKeyNotSetError]' },
    });
  });
});

import { expect } from 'chai';
import { createRulesExtractor } from '../../../../../test/support/rules-extractor.ts';
import { asId } from '../../../kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../../kernel/scope.ts';
import type { WorkerPoolOptions } from '../../../platform/workers/worker-pool.ts';
import type { ModelCallContext } from '../../../ports/models.ts';
import { createExtractionPool, createTextWorkers, type ExtractionPool } from './extraction-pool.ts';

const context: ModelCallContext = { scope: datasetScope(PERSONAL_TENANT, asId('d')), purpose: 'extraction' };
const input = { text: 'Ada Lovelace lived in London.', documentName: 'n', headings: [], knownNames: [] };

describe('extraction pool', () => {
  const open = (options: Partial<WorkerPoolOptions> = {}): ExtractionPool & { close(): Promise<void> } => {
    const pool = createTextWorkers(options);
    return { ...createExtractionPool(pool), close: pool.close };
  };

  it('answers as the extractor in the calling thread does, for many calls at once', async () => {
    const pool = open({ size: 2 });
    try {
      const expected = await createRulesExtractor().extract(input, context);
      const found = await Promise.all(Array.from({ length: 40 }, () => pool.extract(input, context)));
      for (const one of found) expect(one).to.deep.equal(expected);
      expect(pool.version).to.equal(createRulesExtractor().version);
    } finally {
      await pool.close();
    }
  });

  it('starts again after its process went idle', async () => {
    const pool = open({ idleMs: 20 });
    try {
      await pool.extract(input, context);
      await new Promise((resolve) => setTimeout(resolve, 120));
      expect((await pool.extract(input, context)).entities).not.to.have.length(0);
    } finally {
      await pool.close();
    }
  });

  it('ends a process that takes too long and serves the next call', async () => {
    const pool = open({ timeoutMs: 1 });
    try {
      const error = await pool.extract(input, context).catch((reason: unknown) => reason);
      expect(error).to.have.property('wireName', 'CogneeSystemError');
    } finally {
      await pool.close();
    }
  });

  it('refuses calls once closed and fails those under way', async () => {
    const pool = open();
    const pending = pool.extract(input, context).catch((reason: unknown) => reason);
    await pool.close();
    expect(await pending).to.have.property('wireName', 'CancelledError');
    const later = await pool.extract(input, context).catch((reason: unknown) => reason);
    expect(later).to.have.property('wireName', 'CancelledError');
  });

  it('does not start for a call that is aborted already', async () => {
    const pool = open();
    const signal = AbortSignal.abort();
    const error = await pool.extract(input, { ...context, signal }).catch((reason: unknown) => reason);
    expect(error).to.have.property('name', 'AbortError');
    await pool.close();
  });
});

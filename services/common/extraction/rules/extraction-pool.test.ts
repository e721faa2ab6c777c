import { expect } from 'chai';
import { asId } from '../../domain/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../domain/scope.ts';
import type { ModelCallContext } from '../../ports/models.ts';
import { createExtractionPool } from './extraction-pool.ts';
import { createRulesExtractor } from './rules-extractor.ts';

const context: ModelCallContext = { scope: datasetScope(PERSONAL_TENANT, asId('d')), purpose: 'extraction' };
const input = { text: 'Ada Lovelace lived in London.', documentName: 'n', headings: [], knownNames: [] };

describe('extraction pool', () => {
  it('answers as the extractor in the calling thread does, for many calls at once', async () => {
    const pool = createExtractionPool({ size: 2 });
    try {
      const expected = await createRulesExtractor().extract(input, context);
      const found = await Promise.all(Array.from({ length: 40 }, () => pool.extract(input, context)));
      for (const one of found) expect(one).to.deep.equal(expected);
      expect(pool.version).to.equal(createRulesExtractor().version);
    } finally {
      await pool.close();
    }
  });

  it('starts again after its thread went idle', async () => {
    const pool = createExtractionPool({ idleMs: 20 });
    try {
      await pool.extract(input, context);
      await new Promise((resolve) => setTimeout(resolve, 120));
      expect((await pool.extract(input, context)).entities).not.to.have.length(0);
    } finally {
      await pool.close();
    }
  });

  it('has a thread ready after prepare', async () => {
    const timeOf = async (pool: ReturnType<typeof createExtractionPool>) => {
      const started = performance.now();
      await pool.extract(input, context);
      return performance.now() - started;
    };
    const isReadyAfter = async (waitMs: number): Promise<boolean> => {
      const cold = createExtractionPool();
      const prepared = createExtractionPool();
      try {
        prepared.prepare();
        prepared.prepare();
        const coldMs = await timeOf(cold);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        return (await timeOf(prepared)) < coldMs / 2;
      } finally {
        await Promise.all([cold.close(), prepared.close()]);
        prepared.prepare(); // starts nothing that nobody would end
      }
    };
    // How long a thread needs is known of no machine.
    let isReady = false;
    for (const waitMs of [300, 1000, 2000, 4000]) isReady ||= await isReadyAfter(waitMs);
    expect(isReady).to.equal(true);
  });

  it('ends a thread that takes too long and serves the next call', async () => {
    const pool = createExtractionPool({ timeoutMs: 1 });
    try {
      const error = await pool.extract(input, context).catch((reason: unknown) => reason);
      expect(error).to.have.property('wireName', 'CogneeSystemError');
    } finally {
      await pool.close();
    }
  });

  it('refuses calls once closed and fails those under way', async () => {
    const pool = createExtractionPool();
    const pending = pool.extract(input, context).catch((reason: unknown) => reason);
    await pool.close();
    expect(await pending).to.have.property('wireName', 'CancelledError');
    const later = await pool.extract(input, context).catch((reason: unknown) => reason);
    expect(later).to.have.property('wireName', 'CancelledError');
  });

  it('does not start for a call that is aborted already', async () => {
    const pool = createExtractionPool();
    const signal = AbortSignal.abort();
    const error = await pool.extract(input, { ...context, signal }).catch((reason: unknown) => reason);
    expect(error).to.have.property('name', 'AbortError');
    await pool.close();
  });
});

import { expect } from 'chai';
import { createStructureWorld, type StructureWorld } from '../../../test/support/structure-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import type { Embedder } from '../../common/ports/models.ts';
import { claimKeys, createImproveClaims } from '../../common/records/improve/improve-claims.ts';
import { runCustomTasks } from '../stages/run-tasks.ts';
import { createTripletEnrichment } from '../stages/structure-stages.ts';
import { MEMIFY_TASKS, requireKnownTasks } from '../structure/memify-tasks.ts';
import type { ImproveParts } from './improve-passes.ts';
import { type MemifyRequest, memify } from './memify.ts';
import { createStageRunner } from './run-stages.ts';

describe('memify', () => {
  let structure: StructureWorld;
  /** The error of cognify's embedder. */
  let failure: Error | null;
  beforeEach(async () => {
    failure = null;
    const inner = createHashingEmbedder({ dimensions: 64 });
    const embed: Embedder['embed'] = (...call) => (failure === null ? inner.embed(...call) : Promise.reject(failure));
    structure = await createStructureWorld({ isHeld: false, embedder: { ...inner, embed } });
    await structure.learn('Ada knows Babbage.');
  });
  afterEach(() => structure[Symbol.asyncDispose]());

  function parts(): ImproveParts {
    const { deps } = structure;
    const silent = () => {};
    const logger = { debug: silent, info: silent, warn: silent, error: silent };
    const stage = createTripletEnrichment({
      ...deps,
      customTasks: (pass, custom) => runCustomTasks({ ...deps, stages: [] }, pass, custom),
    });
    const runner = createStageRunner({ ...deps, logger }, [stage]);
    const claims = createImproveClaims(structure.world.store);
    // Nothing else of the service is touched by tasks that are waited for.
    return { ...deps, logger, claims, runner, stopping: new AbortController().signal } as unknown as ImproveParts;
  }
  function request(task: string): MemifyRequest {
    const { dataset, principal, context } = structure.pass();
    const tasks = { extractionTasks: [], enrichmentTasks: [task], data: null };
    return { dataset, principal, context, tasks, nodeNames: [], background: false };
  }
  const triplets = () => structure.world.indexes.text.count(scopeOf(structure.world.dataset), { kind: 'triplet' });

  it('runs the tasks and returns their run', async () => {
    const outcome = await memify(parts(), request('add_data_points'));
    expect(outcome).to.have.nested.property('run.pipeline', 'memify_pipeline');
    expect(await triplets()).to.be.above(0);
  });

  it('is refused while another improve has the dataset, and accepted afterwards', async () => {
    const claims = createImproveClaims(structure.world.store);
    const { dataset, principal } = structure.world;
    const keys = claimKeys(principal.tenant, dataset.id, []);
    expect(await claims.claim(keys, 'another/0', { nowMs: Date.now(), leaseMs: 60_000 })).to.equal(true);
    const refused = await memify(parts(), request('add_data_points')).catch((error: Error) => error);
    expect(refused).to.include({ wireName: 'ConflictError', status: 409 });
    expect(await triplets()).to.equal(0);
    await claims.release(keys, 'another/0');
    expect(await memify(parts(), request('add_data_points'))).to.have.property('run');
  });

  it('distinguishes a used-up budget from other failures', async () => {
    failure = engramError('LLMPaymentRequiredError', 'LLM budget exhausted: test');
    const outcome = await memify(parts(), request('add_data_points'));
    expect(outcome)
      .to.have.property('failure')
      .that.matches(/^LLMPaymentRequiredError: /);
    failure = new Error('secret');
    const broken = await memify(parts(), request('add_data_points'));
    expect(broken)
      .to.have.property('failure')
      .that.matches(/^CogneeSystemError: /)
      .and.not.includes('secret');
    failure = null;
    expect(await memify(parts(), request('add_data_points'))).to.have.property('run');
  });

  it('runs each known task, or refuses it with a reason', () => {
    for (const name of MEMIFY_TASKS) {
      try {
        requireKnownTasks([name]);
      } catch (error) {
        expect(String(error)).to.match(/is not available: \w+/);
      }
    }
    expect(() => requireKnownTasks(['make_coffee'])).to.throw(/^Unknown memify task name: 'make_coffee'\./);
  });
});

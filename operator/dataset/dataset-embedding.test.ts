import { expect } from 'chai';
import type { EmbeddingState } from '../../services/common/platform/messaging/messages.ts';
import { createDatasetWorld, type DatasetWorld } from '../../test/support/kube/dataset-world.ts';

const OLD = { model: 'builtin/hashing-v1', dimensions: 384 };
const NEW = { model: 'openai/text-embedding-3-small', dimensions: 1536 };
const MOVING: EmbeddingState = {
  embedding: OLD,
  migration: { from: OLD, to: NEW, done: 100, total: 200, startedAt: '2026-11-22T10:00:00Z', phase: 'copying' },
  failure: null,
};
const DONE: EmbeddingState = { embedding: NEW, migration: null, failure: null };

describe('embedding model of a dataset', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
    world.putTenant();
  });
  afterEach(() => world.close());

  const status = () => world.read()?.status;
  const answer = (...answers: readonly EmbeddingState[]) => void world.services.migrationAnswers.push(...answers);
  const moving = (done: number, phase: 'copying' | 'settling' = 'copying'): EmbeddingState => ({
    ...MOVING,
    migration: { ...(MOVING.migration as NonNullable<EmbeddingState['migration']>), done, phase },
  });

  it('sets the embedding model of a dataset before its first data', async () => {
    const declared = { model: 'text-embedding-3-small', dimensions: 1536 };
    world.put({ embedding: declared });
    await world.reconcile();
    expect([...world.services.datasets.values()][0]?.embedding).to.deep.equal(declared);
    expect(world.conditions()).not.to.have.property('Migrating');
    await world.reconcile();
    expect(world.services.countOf('migrateEmbedding')).to.equal(1);
  });

  it('shows the progress of an embedding migration once a minute', async () => {
    answer(MOVING, moving(150), moving(180), moving(200, 'settling'), DONE);
    world.put();
    const { requeueAfterMs } = await world.reconcile();
    expect(requeueAfterMs).to.be.lessThan(5_000);
    expect(world.conditions()).to.include({ Migrating: 'True Reembedding', Ready: 'True Available' });
    expect(status()?.embedding).to.deep.equal(OLD);
    expect(status()?.migration).to.deep.equal({
      kind: 'Reembed',
      from: OLD,
      to: NEW,
      done: 100,
      total: 200,
      startedAt: '2026-11-22T10:00:00Z',
    });
    const writes = world.statusWrites();
    await world.reconcile();
    expect([world.statusWrites(), status()?.migration?.done]).to.deep.equal([writes, 100]);
    await world.clock.advance(61_000);
    await world.reconcile();
    expect(status()?.migration?.done).to.equal(180);
    await world.reconcile();
    expect(world.conditions()).to.include({ Migrating: 'True Settling' });
    await world.reconcile();
    expect(world.conditions()).not.to.have.property('Migrating');
    expect([status()?.embedding, status()?.migration]).to.deep.equal([NEW, undefined]);
    expect(world.notes.map(({ reason }) => reason)).to.include('EmbeddingMigrated');
    await world.reconcile();
    expect(world.services.countOf('migrateEmbedding')).to.equal(5);
  });

  it('reports a blocked embedding migration, and continues by itself', async () => {
    const failures = [
      ['LLMAPIKeyNotSetError', 'ProviderRejected'],
      ['LLMPaymentRequiredError', 'BudgetExhausted'],
      ['EmbeddingDimensionMismatchError', 'DimensionsDiffer'],
      ['EmbeddingException', 'EmbeddingUnusable'],
      ['ServiceUnavailableError', 'ProviderUnreachable'],
    ] as const;
    world.put();
    for (const [name, reason] of failures) {
      answer({ ...MOVING, failure: { name, message: 'The provider says no.' } });
      const { requeueAfterMs } = await world.reconcile();
      expect(requeueAfterMs).to.be.within(10_000, 30_000);
      expect(world.conditions()).to.include({ Migrating: `True ${reason}`, Ready: 'True Available' });
      const { message = '' } = world.condition('Migrating') ?? {};
      expect(message).to.match(/^The vectors stay as they are, .+: The provider says no$/);
    }
    answer(DONE);
    await world.reconcile();
    expect(world.conditions()).not.to.have.property('Migrating');
  });

  it('sets the embedding model again when the resource changes', async () => {
    world.put();
    await world.reconcile();
    world.change({ spec: { embedding: { model: 'm', dimensions: 8 } } });
    answer(MOVING);
    await world.reconcile();
    expect(world.conditions()).to.include({ Migrating: 'True Reembedding' });
    expect(world.services.countOf('migrateEmbedding')).to.equal(2);
  });
});

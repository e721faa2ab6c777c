import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../kernel/brand.ts';
import { asId } from '../kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../kernel/scope.ts';
import type { DocumentStore } from '../storage/ports/document-store.ts';
import { recordCollections } from './collections.ts';
import { createDistillations } from './improve/distillations.ts';
import { createElementWeights } from './improve/element-weights.ts';
import { createPreferences } from './improve/preferences.ts';
import { createUserLearnings, userLearningCollections } from './session-removal.ts';

const [ACME, GLOBEX] = [asId<TenantId>('t1'), asId<TenantId>('t2')];
const [ADA, GRACE] = [asId<UserId>('ada'), asId<UserId>('grace')];
const DATASET = asId<DatasetId>('notes');

describe('learnings of users in datasets', () => {
  let store: DocumentStore;
  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
  });

  async function learn(tenant: TenantId, user: UserId, session: string): Promise<void> {
    const preferences = createPreferences(store);
    const scope = datasetScope(tenant, DATASET);
    const start = { user, session, startedAt: '2026-01-01T00:00:00.000Z' };
    const weight = { nodeId: 'n1', weight: 0.7, updatedAtTurn: 1, forgottenAtTurn: 90 };
    const [known, progress] = await Promise.all([preferences.of(scope, user), preferences.progress(scope, start)]);
    const [stored] = await preferences.weights(scope, user, ['n1']);
    await store.commit(scope, [
      preferences.preferenceWrite(user, known),
      preferences.weightWrite(user, weight, stored?.version ?? 0),
      preferences.progressWrite(start, progress),
      createDistillations(store).write(start, { turns: 1, feedback: 0, rows: [], version: 0 }),
    ]);
    await createElementWeights(store).cast(scope, {
      session: { user, session },
      answer: { id: `answer of ${user} in ${session}`, number: 1 },
      vote: { score: 5, source: 'explicit', applied: ['n1'], attempts: 1, version: null },
      ids: [],
      move: (weight) => weight,
      at: start.startedAt,
    });
  }
  const counts = () =>
    Promise.all(userLearningCollections.map((collection) => store.count(SYSTEM_SCOPE, collection, {})));

  it('are removed with the user, in every dataset of every tenant, and no others', async () => {
    await learn(ACME, ADA, 's1');
    await learn(GLOBEX, ADA, 's1');
    await learn(ACME, GRACE, 's1');
    await createUserLearnings(store).removeOfUser(SYSTEM_SCOPE, ADA);
    expect(await counts()).to.deep.equal([1, 1, 1, 1, 1]);
  });

  it('loses with a session how far that was read, and nothing else', async () => {
    await learn(ACME, ADA, 's1');
    await learn(ACME, ADA, 's2');
    await createUserLearnings(store).removeOfSession({ tenant: ACME }, { user: ADA, session: 's1' });
    // Votes are no progress: they went with the answers.
    expect(await counts()).to.deep.equal([1, 1, 1, 1, 2]);
  });
});

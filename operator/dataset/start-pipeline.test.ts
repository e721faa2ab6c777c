import { expect } from 'chai';
import type { DatasetId, TenantId, UserId } from '../../services/common/kernel/brand.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../services/common/kernel/errors.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { createMessenger, type Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import { unsignedPrincipals } from '../../test/support/unsigned-principals.ts';
import { startPipeline } from './steps/start-runs.ts';

const dataset: DatasetRef = {
  id: asId<DatasetId>('0c9e2b0e-6a51-4b43-9a55-0b1d6a5c2f10'),
  name: 'tickets',
  ownerId: asId<UserId>('1c9e2b0e-6a51-4b43-9a55-0b1d6a5c2f10'),
  tenant: asId<TenantId>('6f1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10'),
  createdAt: '2026-08-01T00:00:00+00:00',
  updatedAt: null,
};
const signal = new AbortController().signal;

describe('startPipeline', () => {
  let messenger: Messenger;
  let owner: Principal | null;

  beforeEach(async () => {
    messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
    owner = {
      id: dataset.ownerId,
      email: 'a@acme.example.com',
      tenant: dataset.tenant,
      isSuperuser: false,
    } as Principal;
    await messenger.serve('auth.EnsureDataset', async () => ({ dataset, created: false }));
    await messenger.serve('auth.ResolveDatasets', async () => ({ datasets: [dataset] }));
    await messenger.serve('auth.GetPrincipal', async ({ userId, tenant }) => {
      expect([userId, tenant]).to.deep.equal([dataset.ownerId, dataset.tenant]);
      return { principal: owner };
    });
  });

  const request = (pipeline: 'cognify' | 'improve') => ({
    pipeline,
    tenantId: dataset.tenant,
    datasetId: dataset.id,
    name: dataset.name,
    crUid: 'uid',
  });

  it('starts cognify as the owner of the dataset, with the defaults of the dataset', async () => {
    const asked: unknown[] = [];
    await messenger.serve('cognify.StartRun', async ({ dataset: named, background }, context) => {
      asked.push([named.id, background, context.principal?.id]);
      throw engramError('ConflictError', 'One is under way.');
    });
    const error = await startPipeline(messenger, request('cognify'), signal).catch((caught: unknown) => caught);
    expect(isEngramError(error) && error.wireName).to.equal('ConflictError');
    expect(asked).to.deep.equal([[dataset.id, true, dataset.ownerId]]);
  });

  it('sends the time of the schedule with a start', async () => {
    const due: unknown[] = [];
    await messenger.serve('cognify.StartRun', async ({ dueAt }) => {
      due.push(dueAt);
      throw engramError('ConflictError', 'One is under way.');
    });
    await messenger.serve('improve.Improve', async ({ dueAt }, context) => {
      due.push([dueAt, context.principal?.id]);
      return { result: {}, error: null };
    });
    const dueAt = '2026-08-01T03:00:00Z';
    await startPipeline(messenger, { ...request('cognify'), dueAt }, signal).catch(() => {});
    await startPipeline(messenger, request('cognify'), signal).catch(() => {});
    await startPipeline(messenger, { ...request('improve'), dueAt }, signal);
    expect(due).to.deep.equal([dueAt, undefined, [dueAt, dataset.ownerId]]);
  });

  it('fails when the account of the owner is inactive', async () => {
    owner = null;
    const error = await startPipeline(messenger, request('cognify'), signal).catch((caught: unknown) => caught);
    expect(isEngramError(error) && error.wireName).to.equal('PermissionDeniedError');
  });
});

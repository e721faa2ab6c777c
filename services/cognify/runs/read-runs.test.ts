import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { asId } from '../../common/kernel/ids.ts';
import { listRunRecords } from './read-runs.ts';

const { principal } = CALL;
const OWNER = { ...principal, id: asId<never>('00000000-0000-4000-8000-000000000002'), email: 'owner@example.com' };
const DATASET = { id: asId<never>('notes'), name: 'notes', ownerId: OWNER.id, tenant: principal.tenant };

describe('the history of runs', () => {
  it('reads the owners of datasets as unattended requests, because open pages repeat them', async () => {
    const asked: unknown[] = [];
    const deps = {
      messenger: {
        async call(method: unknown, request: unknown) {
          if (method === 'auth.ResolveDatasets') return { datasets: [DATASET] };
          expect(method).to.equal('auth.GetPrincipal');
          asked.push(request);
          return { principal: OWNER };
        },
      },
      records: { newest: async () => [{ id: 'row', record: { datasetId: DATASET.id } }] },
    } as unknown as Parameters<typeof listRunRecords>[0];
    const { owners } = await listRunRecords(deps, { principal, limit: 9, offset: 0 }, CALL);
    expect(owners.get(OWNER.id)).to.equal(OWNER.email);
    expect(asked).to.deep.equal([{ userId: OWNER.id, tenant: principal.tenant, unattended: true }]);
  });
});

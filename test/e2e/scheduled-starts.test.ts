import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startPipeline } from '../../operator/dataset/steps/start-runs.ts';
import { createRunRecords } from '../../services/common/records/cognify/run-records.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { declareTenant } from '../support/managed-tenant.ts';
import { until } from '../support/until.ts';

const signal = new AbortController().signal;

describe('scheduled starts with the real services', () => {
  let app: ManagedApp;
  before(async () => {
    app = await startManagedApp();
  });
  after(() => app?.stop());

  for (const [pipeline, recorded] of [
    ['cognify', 'cognify_pipeline'],
    ['improve', 'improve'],
  ] as const) {
    it(`start ${pipeline} once per due time, whichever operator requests it`, async () => {
      const { messenger } = app;
      const { tenantId } = await declareTenant(app);
      const crUid = randomUUID();
      const { dataset } = await messenger.call(
        'auth.EnsureDataset',
        { crUid, tenantId, name: 'notes' },
        { requestId: 'test' },
      );
      const runs = async () => {
        const query = { datasets: [dataset.id], limit: 50, offset: 0 };
        const rows = await createRunRecords(app.stores.documents).newest({ tenant: tenantId }, query);
        return rows.map(({ record }) => record).filter((record) => record.pipeline === recorded);
      };
      const ended = async () => (await runs()).filter(({ status }) => status !== 'DATASET_PROCESSING_STARTED').length;
      const request = { pipeline, tenantId, datasetId: dataset.id, name: 'notes', crUid };
      const due = (dueAt: string) => startPipeline(messenger, { ...request, dueAt }, signal);
      await due('2026-08-01T03:00:00Z');
      await due('2026-08-01T03:00:00Z');
      await until('it has ended', async () => (await ended()) === 1);
      await due('2026-08-01T03:00:00Z');
      await due('2026-08-02T03:00:00Z');
      await until('the next one has ended', async () => (await ended()) === 2);
      expect(new Set((await runs()).map(({ runId }) => runId)).size).to.equal(2);
    });
  }
});

import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('work in the background', function () {
  this.timeout(60_000);
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  const runs = async (dataset: string) =>
    (await wire.get(`/activity/pipeline-runs?dataset_id=${dataset}`)).json as Record<string, unknown>[];
  const ended = (dataset: string, pipeline: string) =>
    until(`${pipeline} has ended`, async () =>
      (await runs(dataset)).some((run) => run['pipeline_name'] === pipeline && run['outcome'] !== null),
    );

  it('of add is a run whose start was recorded before the answer', async () => {
    const body = { data: 'Ada lives in London.', datasetName: 'added', runInBackground: true };
    const { status, json } = await wire.post('/add', body);
    expect(status).to.equal(200);
    expect(json).to.include({ status: 'PipelineRunStarted', data_ingestion_info: null });
    expect((await runs(json.dataset_id)).at(-1)).to.include({ pipeline_run_id: json.pipeline_run_id });
    await ended(json.dataset_id, 'add_pipeline');
    expect((await wire.get(`/datasets/${json.dataset_id}/data`)).json).to.have.length(1);
  });

  it('of add that fails ends its run with the error', async () => {
    const body = { data: 'http://127.0.0.1:1/page', datasetName: 'failed', runInBackground: true };
    const { json } = await wire.post('/add', body);
    await ended(json.dataset_id, 'add_pipeline');
    expect((await runs(json.dataset_id))[0]).to.include({ outcome: 'failed' });
  });

  it('of remember builds the graph and improves it, as in the foreground', async () => {
    const pipelines = async (datasetName: string, runInBackground: boolean) => {
      const body = { data: 'Ada lives in London.', datasetName, runInBackground };
      const { json } = await wire.post('/remember', body);
      if (runInBackground) expect(json).to.include({ status: 'running', items_processed: 0 });
      await ended(json.dataset_id, 'improve');
      return new Set((await runs(json.dataset_id)).map((run) => run['pipeline_name'] ?? run['operation_name']));
    };
    expect(await pipelines('behind', true)).to.deep.equal(await pipelines('before', false));
  });
});

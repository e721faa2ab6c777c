import { expect } from 'chai';
import { makeDataDir, startProcess } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('work in the background', () => {
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

  it('of add names in its run what was refused, and keeps the rest', async () => {
    const form = new FormData();
    form.append('datasetName', 'partly');
    form.append('run_in_background', 'true');
    form.append('data', new Blob(['Ada lives in London.']), 'ada.txt');
    form.append('data', new Blob([new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70])]), 'photo.jpg');
    const { json } = await wire.form('/add', form);
    await ended(json.dataset_id, 'add_pipeline');
    expect((await runs(json.dataset_id))[0]).to.include({ outcome: 'succeeded' });
    expect((await runs(json.dataset_id))[0]?.['error_message']).to.match(/1 input was refused. 'photo.jpg': /);
    const items = (await wire.get(`/datasets/${json.dataset_id}/data`)).json as { name: string }[];
    expect(items.map(({ name }) => name)).to.deep.equal(['ada']);
  });

  itWhenWhole('of add and remember goes on after the process was killed at the moment of the answer', async () => {
    const data = makeDataDir();
    let server = await startProcess({ dataDir: data.path });
    try {
      const texts = Array.from({ length: 60 }, (_, index) => `Person ${index} lives in town number ${index}.`);
      const send = async (path: string, datasetName: string) => {
        const form = new FormData();
        form.append('datasetName', datasetName);
        form.append('run_in_background', 'true');
        for (const [index, text] of texts.entries()) form.append('data', new Blob([text]), `${index}.txt`);
        form.append('raw_data', 'Grace Hopper wrote a compiler.');
        return (await createWire(server.baseUrl).form(path, form)).json.dataset_id as string;
      };
      const [added, remembered] = await Promise.all([send('/add', 'added'), send('/remember', 'remembered')]);
      await server.kill();
      server = await startProcess({ dataDir: data.path });
      const after = createWire(server.baseUrl);
      const count = async (id: string) => (await after.get(`/datasets/${id}/data`)).json.length as number;
      await until('everything is added', async () => (await count(added)) === 61 && (await count(remembered)) === 61);
      const asked = { query: 'Who wrote a compiler?', search_type: 'CHUNKS', datasets: ['remembered'] };
      await until('it is built', async () => (await after.post('/search', asked)).text.includes('Grace Hopper'));
      const list = (await after.get(`/activity/pipeline-runs?dataset_id=${added}`)).json as Record<string, unknown>[];
      expect(list[0]).to.include({ pipeline_name: 'add_pipeline', outcome: 'succeeded', background: true });
    } finally {
      await server.stop();
      data.remove();
    }
  });
});

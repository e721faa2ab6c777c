import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { createWire, type Wire } from '../support/wire.ts';
import { POISONED } from './poisoned-items.ts';

const GOOD = 'Ada Lovelace met Charles Babbage in London.';
const BROKEN = 'Mary Somerville taught mathematics. POISON-BROKEN';
const REASON = 'this document is poisoned';

describe('items that cannot be built', () => {
  const data = makeDataDir();
  let server: EngramProcess;
  let wire: Wire;

  before(async () => {
    server = await startProcess({ dataDir: data.path, environment: POISONED });
    wire = createWire(server.baseUrl);
  });
  after(async () => {
    await server.stop();
    data.remove();
  });

  async function remember(dataset: string, ...texts: readonly string[]) {
    const form = new FormData();
    form.append('datasetName', dataset);
    form.append('self_improvement', 'false');
    for (const [at, text] of texts.entries()) form.append('data', new Blob([text]), `${dataset}-${at}.txt`);
    return wire.form('/remember', form);
  }

  it('are reported with their reason by cognify, the status, the list and the history', async () => {
    await wire.upload('named', { name: 'good.txt', content: GOOD }, { name: 'broken.txt', content: BROKEN });
    const answer = await wire.post('/cognify', { datasets: ['named'] });
    expect(answer.status, answer.text).to.equal(200);
    const [run] = Object.values(answer.json) as { status: string; payload: object; data_ingestion_info: unknown[] }[];
    expect(run).to.include({ status: 'PipelineRunCompleted' });
    expect(run?.payload).to.include({ documents: 1, failed_items: 1 });
    const infos = (run?.data_ingestion_info ?? []) as { run_info: Record<string, unknown> }[];
    expect(infos.map(({ run_info }) => run_info['status'])).to.have.members([
      'PipelineRunCompleted',
      'PipelineRunErrored',
    ]);
    expect(infos.find(({ run_info }) => run_info['status'] === 'PipelineRunErrored')?.run_info).to.include({
      payload: REASON,
      error_class: 'Error',
      error_message: REASON,
      data_name: 'broken',
      is_set_aside: false,
    });
    const [id = ''] = Object.keys(answer.json);
    const status = (await wire.get(`/datasets/${id}/processing-status`)).json;
    expect(status).to.include({ total: 2, completed: 1, pending: 1, failed: 1 });
    const listed = (await wire.get(`/datasets/${id}/data`)).json as { name: string; failure?: object }[];
    expect(listed.find(({ name }) => name === 'broken')?.failure).to.include({
      message: REASON,
      tries: 1,
      isSetAside: false,
    });
    expect(listed.find(({ name }) => name === 'good')).to.not.have.property('failure');
    const [record] = (await wire.get(`/activity/pipeline-runs?dataset_id=${id}`)).json as Record<string, unknown>[];
    expect(record).to.include({ status: 'DATASET_PROCESSING_COMPLETED', error_class: 'PipelineRunFailedError' });
  });

  it('are retried after they were set aside on request only', async () => {
    await wire.upload('retried', { name: 'good.txt', content: GOOD }, { name: 'broken.txt', content: BROKEN });
    let id = '';
    for (let run = 0; run < 4; run += 1)
      [id = ''] = Object.keys((await wire.post('/cognify', { datasets: ['retried'] })).json);
    const failureOf = async () => {
      const { items } = (await wire.get(`/datasets/${id}/processing-status`)).json;
      return items.find(({ name }: { name: string }) => name === 'broken');
    };
    const broken = await failureOf();
    expect(broken.failure).to.include({ tries: 3, is_set_aside: true });
    const unknown = await wire.post(`/datasets/${id}/data/retry`, {
      data_ids: ['00000000-0000-4000-8000-000000000000'],
    });
    expect(unknown.status).to.equal(404);
    const retry = await wire.post(`/datasets/${id}/data/retry`, {});
    expect(retry.status, retry.text).to.equal(200);
    expect(retry.json).to.deep.include({ dataset_id: id, data_ids: [broken.id] });
    expect(retry.json.pipeline_run_id).to.be.a('string');
    // Behind the run of the retry.
    await wire.post('/cognify', { datasets: ['retried'] });
    expect((await failureOf()).failure).to.include({ tries: 2, is_set_aside: false });
    const good = (await wire.get('/datasets')).json.find(({ name }: { name: string }) => name === 'named');
    const other = await wire.post(`/datasets/${good.id}/data/retry`, { data_ids: [broken.id] });
    expect(other.status).to.equal(404);
  });

  it('fail their own remember, and not concurrent ones', async () => {
    expect((await remember('memory', GOOD)).json).to.include({ status: 'completed' });
    const alone = await remember('memory', BROKEN);
    expect(alone.status, alone.text).to.equal(409);
    expect(alone.json).to.include({ status: 'errored' });
    expect(alone.json.error).to.contain(REASON);
    const beside = await remember('beside', GOOD, BROKEN);
    expect(beside.status, beside.text).to.equal(200);
    expect(beside.json).to.include({ status: 'completed', items_processed: 2 });
    const [failed] = beside.json.items.filter((item: { status?: string }) => item.status === 'errored');
    expect(failed).to.include({ name: 'beside-1', error: REASON });
  });

  it('fail their update, which keeps what was built before', async () => {
    const added = await wire.upload(
      'updated',
      { name: 'one.txt', content: GOOD },
      { name: 'two.txt', content: `${GOOD} Twice.` },
    );
    await wire.post('/cognify', { datasets: ['updated'] });
    const item = added.json.data_ingestion_info[0].data_id as string;
    const form = new FormData();
    form.append('data', new Blob([BROKEN]), 'one.txt');
    const query = `data_id=${item}&dataset_id=${added.json.dataset_id}`;
    const response = await fetch(`${server.baseUrl}/api/v1/update?${query}`, { method: 'PATCH', body: form });
    const body = (await response.json()) as { status: string; error: { message: string } };
    expect(response.status, JSON.stringify(body)).to.equal(500);
    expect(body.status).to.equal('failed');
    expect(body.error.message).to.contain(REASON);
    const search = await wire.post('/search', { query: 'Ada', searchType: 'CHUNKS', datasets: ['updated'], topK: 10 });
    expect(search.text).to.contain(GOOD);
  });
});

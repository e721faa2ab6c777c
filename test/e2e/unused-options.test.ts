import { expect } from 'chai';
import { unusedModelOptions } from '../../services/common/domain/unused-options.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

const NO_EFFECT = /^graph_model and custom_prompt have no effect: no language model is configured/;

describe('options that a server without a language model cannot follow', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp();
    await post('/add', { data: 'Ada Lovelace met Charles Babbage.', datasetName: 'notes' });
  });
  after(() => app.stop());

  async function post(path: string, body: object) {
    const { status, headers, json } = await createWire(app.baseUrl).post(path, body);
    expect(status).to.equal(200);
    return { warning: headers.get('warning'), json };
  }
  const options = { graphModel: { title: 'Meetings' }, customPrompt: 'Extract meetings.' };

  it('are named in the result of cognify and in its Warning header', async () => {
    const { warning, json } = await post('/cognify', { datasets: ['notes'], ...options });
    expect(warning).to.match(/^299 - "graph_model and custom_prompt have no effect/);
    const [run] = Object.values(json as Record<string, { payload: { warnings: string[] } }>);
    expect(run?.payload.warnings[0]).to.match(NO_EFFECT);
    const later = await post('/cognify', { datasets: ['notes'], ...options, runInBackground: true });
    expect(later.warning).to.equal(warning);
  });

  it('are named in the result of remember and in its Warning header', async () => {
    const { warning, json } = await post('/remember', { data: 'Ada met Mary.', datasetName: 'notes', ...options });
    expect(warning).to.match(/^299 - "graph_model and custom_prompt have no effect/);
    expect(json.warnings[0]).to.match(NO_EFFECT);
  });

  it('are not mentioned where none was given, or where a model follows them', async () => {
    const { warning, json } = await post('/cognify', { datasets: ['notes'] });
    expect(warning).to.equal(null);
    expect(JSON.stringify(json)).to.include('PipelineRunCompleted').and.not.include('warnings');
    expect(unusedModelOptions(options, true)).to.equal(null);
    expect(unusedModelOptions({ customPrompt: 'Extract.' }, false)).to.match(/^custom_prompt has no effect/);
  });
});

import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';

interface Graph {
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly type: string }[];
  readonly edges: readonly { readonly label: string }[];
}

describe('the graph and processing status of a dataset', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const ask = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${app.baseUrl}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).to.equal(200);
    return (await response.json()) as Answer;
  };
  const datasetOf = async (name: string) => (await ask<{ readonly id: string }>('/datasets', { name })).id;

  it('contain an empty graph before a run, and the merged graph without internal nodes afterwards', async () => {
    const id = await datasetOf('graph');
    expect(await ask(`/datasets/${id}/graph`)).to.deep.equal({ nodes: [], edges: [] });
    const texts = ['Ada Lovelace met Grace.', `Ada Lovelace met Grace. ${'Ada Lovelace wrote a letter. '.repeat(300)}`];
    await ask('/add', { datasetName: 'graph', data: texts });
    await ask('/cognify', { datasets: ['graph'] });
    const { nodes, edges } = await ask<Graph>(`/datasets/${id}/graph`);
    expect(nodes.filter(({ label, type }) => label === 'ada lovelace' && type === 'Entity')).to.have.length(1);
    const chunks = nodes.filter(({ type }) => type === 'DocumentChunk');
    expect(chunks.length).to.be.above(2);
    expect(chunks.every((chunk) => chunk.label === `DocumentChunk_${chunk.id}`)).to.equal(true);
    expect(nodes.every(({ label }) => label !== '')).to.equal(true);
    expect(edges.map(({ label }) => label))
      .to.include('contains')
      .and.not.include('next');
  });

  it('report the processing status of each item, newest first', async () => {
    const id = await datasetOf('items');
    await ask('/add', { datasetName: 'items', data: ['Ada met Grace.'] });
    await ask('/cognify', { datasets: ['items'] });
    await ask('/add', { datasetName: 'items', data: ['Alan met Kurt.'] });
    interface Processing {
      readonly items: readonly { readonly completed: boolean }[];
    }
    const state = await ask<Processing>(`/datasets/${id}/processing-status`);
    expect(state).to.deep.include({ total: 2, completed: 1, pending: 1 });
    expect(state.items.map(({ completed }) => completed)).to.deep.equal([false, true]);
    expect(await ask(`/datasets/${id}/processing-status?pipeline=other`)).to.deep.include({ completed: 0, pending: 2 });
  });
});

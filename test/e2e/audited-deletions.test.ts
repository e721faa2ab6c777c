import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';

interface Listed {
  readonly records: readonly {
    readonly action: string;
    readonly actor: string | null;
    readonly subject: string;
    readonly details: Readonly<Record<string, unknown>>;
  }[];
}

describe('audited deletions', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${app.baseUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    expect(response.status, `${method} ${path}`).to.equal(200);
    return (await response.json()) as T;
  }
  const add = (...data: readonly string[]) =>
    call<{ dataset_id: string; data_ingestion_info: readonly { data_id: string }[] }>('POST', '/api/v1/add', {
      data,
      datasetName: 'notes',
    });
  const recorded = async (action: string) =>
    (await call<Listed>('GET', `/api/v1/audit?tenant_id=personal&action=${action}`)).records;

  it('record who removed which items, what was built of them, and the dataset', async () => {
    const { id: actor } = await call<{ id: string }>('GET', '/api/v1/users/me');
    const { dataset_id: dataset, data_ingestion_info: infos } = await add('Ada lives in Oslo.', 'Bob lives in Rome.');
    const [first = '', second = ''] = infos.map(({ data_id }) => data_id);
    await call('POST', '/api/v1/forget', { datasetId: dataset, dataId: first });
    await call('DELETE', `/api/v1/delete?data_id=${second}&dataset_id=${dataset}`);
    const items = await recorded('item.removed');
    expect(items.map(({ details }) => details)).to.deep.equal([
      { items: 1, ids: [second] },
      { items: 1, ids: [first] },
    ]);
    expect(items.every((record) => record.subject === dataset && record.actor === actor)).to.equal(true);

    await call('POST', '/api/v1/forget', { datasetId: dataset, dataId: first });
    expect(await recorded('item.removed'), 'what was gone is not removed again').to.have.length(2);

    await add('Cid lives in Bonn.');
    await call('POST', '/api/v1/forget', { datasetId: dataset, memoryOnly: true });
    expect((await recorded('memory.removed')).map(({ subject }) => subject)).to.deep.equal([dataset]);
    await call('POST', '/api/v1/forget', { datasetId: dataset });
    expect((await recorded('item.removed'))[0]?.details).to.deep.equal({ items: 1 });
    const [removed] = await recorded('dataset.removed');
    expect(removed).to.deep.include({ subject: dataset, actor, details: { owner: actor } });
  });
});

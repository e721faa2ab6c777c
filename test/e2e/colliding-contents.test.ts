import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';

/** Two texts of one MD5, published by Marc Stevens in 2024. */
const [ONE, OTHER] = ['A', 'E'].map(
  (letter) => `TEXTCOLLBYfGiJUETHQ4h${letter}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak`,
) as [string, string];
const MD5 = createHash('md5').update(ONE).digest('hex');

describe('contents of the same MD5', () => {
  let world: TwoReplicas;
  before(async () => {
    expect(createHash('md5').update(OTHER).digest('hex')).to.equal(MD5);
    world = await startTwoReplicas();
  });
  after(() => world[Symbol.asyncDispose]());

  const add = async (datasetName: string, data: string | readonly string[]) => {
    const { status, json, text } = await world.one.wire.post('/add', { data, datasetName });
    expect(status, text).to.equal(200);
    const infos = json.data_ingestion_info as { data_id: string; run_info: { status: string } }[];
    return { dataset: json.dataset_id as string, infos, ids: infos.map(({ data_id: id }) => id) };
  };
  const raw = async (dataset: string, item: string | undefined) =>
    (await world.one.wire.get(`/datasets/${dataset}/data/${item}/raw`)).text;
  const size = async (dataset: string) => (await world.one.wire.get(`/datasets/${dataset}/data`)).json.length as number;

  it('are stored both, one after the other and in one request, and each is known again', async () => {
    const first = await add('after', ONE);
    const second = await add('after', OTHER);
    expect(second.infos[0]?.run_info.status).to.equal('PipelineRunCompleted');
    expect(await raw(first.dataset, first.ids[0])).to.equal(ONE);
    expect(await raw(first.dataset, second.ids[0])).to.equal(OTHER);
    const again = await add('after', [OTHER, ONE]);
    expect(again.ids).to.deep.equal([second.ids[0], first.ids[0]]);
    expect(again.infos.map(({ run_info: { status } }) => status)).to.deep.equal([
      'PipelineRunAlreadyCompleted',
      'PipelineRunAlreadyCompleted',
    ]);
    const together = await add('together', [OTHER, ONE, OTHER]);
    expect(new Set(together.ids).size).to.equal(2);
    expect(await raw(together.dataset, together.ids[1])).to.equal(ONE);
    expect(await size(together.dataset)).to.equal(2);
  });

  it('have the MD5 on the wire', async () => {
    await add('wire', ONE);
    const { json } = await world.one.wire.post('/remember', { data: OTHER, datasetName: 'wire' });
    expect(json.items.map(({ content_hash: hash }: { content_hash: string }) => hash)).to.deep.equal([MD5, MD5]);
  });

  it('take the place of each other by an update', async () => {
    const { dataset, ids } = await add('updated', ONE);
    await world.one.wire.post('/cognify', { dataset_ids: [dataset] });
    const changed = await world.one.wire.patch(`/update?data_id=${ids[0]}&dataset_id=${dataset}`, { data: OTHER });
    expect(changed.status).to.equal(200);
    expect(changed.json.status).to.equal('incremental');
    expect(await raw(dataset, ids[0])).to.equal(OTHER);
  });
});

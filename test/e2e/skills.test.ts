import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const TRIAGE = `---
summary: Sorts incoming support tickets by urgency
allowed-tools: search, label
tags: [support, tickets]
version: 1.2
---
# Triage

1. Call \`search\` for the ticket.
2. Call \`label\` with the urgency.
`;
const fresh = (prefix: string): string => `${prefix}${randomUUID()}`;

describe('skills', function () {
  this.timeout(30_000);
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  const store = async (dataset: string, name: string, text = TRIAGE) =>
    (await wire.post('/skills', { skills_text: text, skill_name: name, dataset_name: dataset })).json;
  const list = async (dataset: string, more = '') => (await wire.get(`/skills?dataset_id=${dataset}${more}`)).json;
  const upload = (files: readonly (readonly [string, string | Uint8Array])[], fields: Record<string, string>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ content_type: 'skills', ...fields })) form.append(name, value);
    for (const [name, content] of files) form.append('data', new Blob([content as Uint8Array<ArrayBuffer>]), name);
    return wire.form('/remember', form);
  };

  it('are stored with what their front matter says, listed by name, fetched with their procedure', async () => {
    const name = fresh('kb');
    const stored = await store(name, 'support/triage');
    const { dataset_id: dataset, elapsed_seconds: elapsed, items, ...rest } = stored;
    expect(rest).to.deep.equal({
      ...{ status: 'completed', dataset_name: name, pipeline_run_id: null, items_processed: 1 },
    });
    expect(elapsed).to.be.at.least(0);
    const id = items[0].id;
    expect(items).to.deep.equal([{ name: 'triage', kind: 'skill', declared_tools: ['search', 'label'], id }]);
    await store(name, 'Answer', 'How to answer.');
    const [answer, triage] = await list(dataset);
    expect(answer).to.include({ name: 'Answer', description: 'How to answer.' });
    const { source_dir: sourceDir, ...summary } = triage;
    expect(sourceDir).to.match(/^cognee-skills-[0-9a-f]{16}\/triage$/);
    expect(summary).to.deep.equal({
      ...{ id, name: 'triage', description: 'Sorts incoming support tickets by urgency', version: '1.2', license: '' },
      ...{ maintainer: '', maintainer_url: '', tags: ['support', 'tickets'], declared_tools: ['search', 'label'] },
      ...{ dataset_scope: [dataset], is_active: true, source_repo_url: '' },
    });
    expect((await wire.get(`/skills/${id}?dataset_id=${dataset}`)).json).to.deep.equal({
      ...triage,
      procedure: TRIAGE.split('---\n')[2]?.trim(),
    });
  });

  it('are updated in place under one identity, however they come; another dataset has its own', async () => {
    const name = fresh('kb');
    const { dataset_id: dataset, items } = await store(name, 'triage');
    const again = await upload([['triage/SKILL.md', TRIAGE.replace('Triage', 'Better')]], { datasetName: name });
    expect(again.json.items[0].id).to.equal(items[0].id);
    expect(await list(dataset)).to.have.length(1);
    expect((await wire.get(`/skills/${items[0].id}?dataset_id=${dataset}`)).json.procedure).to.match(/^# Better/);
    expect((await store(fresh('kb'), 'triage')).items[0].id).not.to.equal(items[0].id);
  });

  it('of many requests at once are all kept, and one name is one skill', async () => {
    const name = fresh('kb');
    const { dataset_id: dataset } = await store(name, 'first');
    await Promise.all(Array.from({ length: 24 }, (_, index) => store(name, `skill ${index % 8}`, `Text ${index}`)));
    expect((await list(dataset)).map((skill: { name: string }) => skill.name)).to.deep.equal([
      'first',
      ...Array.from({ length: 8 }, (_, index) => `skill ${index}`),
    ]);
    expect(await list(dataset, '&limit=2&offset=1')).to.have.length(2);
  });

  it('come as folders: each SKILL.md is one, named after its folder, else as it calls itself', async () => {
    const named = TRIAGE.replace('---\n', '---\nname: sorter\n');
    const { json } = await upload(
      [
        ['a/SKILL.md', TRIAGE],
        ['b/c/skill.md', named],
        ['SKILL.md', named],
        ['a/notes.md', 'beside'],
      ],
      { datasetName: fresh('kb') },
    );
    expect(json.items.map((item: { name: string }) => item.name)).to.deep.equal(['a', 'c', 'sorter']);
    const single = await upload(
      [
        ['one.md', 'One.'],
        ['two.md', 'Two.'],
      ],
      { datasetId: json.dataset_id },
    );
    expect(single.json.items.map((item: { name: string }) => item.name)).to.deep.equal(['skill-0000', 'skill-0001']);
    const nameless = await upload([['SKILL.md', 'Nothing more.']], { datasetId: json.dataset_id });
    expect(nameless.json.items[0].name).to.equal('skill');
  });

  it('that cannot be taken are refused before a dataset is made', async () => {
    const name = fresh('kb');
    const fields = { datasetName: name };
    const climbing = await upload([['../x/SKILL.md', TRIAGE]], fields);
    expect(climbing.status).to.equal(409);
    expect(climbing.json.error).to.match(/^Invalid request data for remember operation: Invalid skill filename: /);
    expect((await upload([], fields)).json.error).to.match(/^An error occurred during remember: /);
    expect((await upload([['a/SKILL.md', new Uint8Array([0xff, 0xfe, 0x00, 0x80])]], fields)).status).to.equal(415);
    expect((await upload([['a/SKILL.md', 'x'.repeat(1024 * 1024 + 1)]], fields)).status).to.equal(413);
    expect((await upload([], { ...fields, raw_data: 'text' })).status).to.equal(400);
    expect(await wire.post('/skills', { skills_text: '', dataset_name: name })).to.deep.include({
      status: 409,
      json: { error: 'Failed to ingest skill' },
    });
    expect(await wire.post('/skills', { skills_text: 'x' })).to.deep.include({
      status: 400,
      json: { error: 'Either dataset_name or dataset_id is required' },
    });
    expect(
      (await wire.post('/skills', { skills_text: 'x', skill_name: 'a\u0000b', dataset_name: name })).status,
    ).to.equal(400);
    expect((await wire.get('/datasets')).json.map((dataset: { name: string }) => dataset.name)).not.to.include(name);
  });

  it('that are blank are none, which is no error', async () => {
    const { status, json } = await wire.post('/skills', { skills_text: ' \n', dataset_name: fresh('kb') });
    expect(status).to.equal(200);
    expect(json).to.include({ items_processed: 0 }).and.not.to.have.property('items');
  });

  it('that are inactive are listed on demand only, and missing for everything else', async () => {
    const { dataset_id: dataset, items } = await store(fresh('kb'), 'old', '---\nactive: false\n---\nOld way.');
    expect(await list(dataset)).to.deep.equal([]);
    expect((await list(dataset, '&include_inactive=true'))[0]).to.include({ name: 'old', is_active: false });
    expect((await wire.get(`/skills/${items[0].id}?dataset_id=${dataset}`)).json).to.deep.equal({
      error: 'Skill not found',
    });
  });

  it('are deleted for good', async () => {
    const { dataset_id: dataset, items } = await store(fresh('kb'), 'triage');
    const path = `/skills/${items[0].id}?dataset_id=${dataset}`;
    expect((await wire.remove(path)).json).to.deep.equal({ status: 'deleted', id: items[0].id, dataset_id: dataset });
    expect(await wire.remove(path)).to.deep.include({ status: 404, json: { error: 'Skill not found' } });
    expect((await wire.get(path)).status).to.equal(404);
    expect((await wire.get(`/skills/not-an-id?dataset_id=${dataset}`)).status).to.equal(404);
  });
});

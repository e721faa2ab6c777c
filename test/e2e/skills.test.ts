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

describe('skills', () => {
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

  it('have the names of their folders also when the client percent-encodes them', async () => {
    const { json } = await upload(
      [
        ['my%20skills%2Fd%C3%A9ploiement%2FSKILL.md', TRIAGE],
        ['100%/50%ff/SKILL.md', TRIAGE],
      ],
      { datasetName: fresh('kb') },
    );
    expect(json.items.map((item: { name: string }) => item.name)).to.deep.equal(['déploiement', '50%ff']);
    const climbing = await upload([['%2E%2E%2Fx%2FSKILL.md', TRIAGE]], { datasetId: json.dataset_id });
    expect(climbing.status).to.equal(409);
  });

  it('that cannot be taken are refused before a dataset is made', async () => {
    const name = fresh('kb');
    const fields = { datasetName: name };
    const climbing = await upload([['../x/SKILL.md', TRIAGE]], fields);
    expect(climbing.status).to.equal(409);
    expect(climbing.json.error).to.match(/^Invalid request data for remember operation: Invalid skill filename: /);
    expect((await upload([], fields)).json.error).to.match(/^An error occurred during remember: /);
    expect((await upload([['a/SKILL.md', new Uint8Array([0xff, 0xfe, 0x00, 0x80])]], fields)).status).to.equal(415);
    expect((await upload([['a/SKILL.md', 'x'.repeat(256 * 1024 + 1)]], fields)).status).to.equal(413);
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

  it('that are inactive are listed on demand only, and missing for everything else', async () => {
    const { dataset_id: dataset, items } = await store(fresh('kb'), 'old', '---\nactive: false\n---\nOld way.');
    expect(await list(dataset)).to.deep.equal([]);
    expect((await list(dataset, '&include_inactive=true'))[0]).to.include({ name: 'old', is_active: false });
    expect((await wire.get(`/skills/${items[0].id}?dataset_id=${dataset}`)).json).to.deep.equal({
      error: 'Skill not found',
    });
  });

  describe('that were used', () => {
    const INVALID = { error: 'Invalid remember request.' };
    const failed = (more: Record<string, unknown> = {}) => ({
      type: 'skill_run',
      selected_skill_id: 'triage',
      success_score: 0.2,
      error_type: 'TimeoutError',
      tool_trace: [{ tool_name: 'search' }, { tool_name: 'label', success: false, tool_output: 'no answer' }],
      ...more,
    });
    const report = (dataset: string, entry: object, improvement?: object) =>
      wire.post('/remember/entry', { entry, dataset_id: dataset, skill_improvement: improvement });
    const skillOf = async (dataset: string, id: string) => (await wire.get(`/skills/${id}?dataset_id=${dataset}`)).json;
    const proposalOf = async (dataset: string, id: string) => wire.get(`/proposals/${id}?dataset_id=${dataset}`);
    const made = async () => {
      const { dataset_id: dataset, dataset_name: name, items } = await store(fresh('kb'), 'triage');
      return { dataset, name, id: items[0].id };
    };

    it('of which nothing is known are refused, and nothing is made for them', async () => {
      const { dataset } = await made();
      const name = fresh('kb');
      const unknown = await wire.post('/remember/entry', { entry: failed(), dataset_name: name });
      expect(unknown).to.deep.include({ status: 400, json: INVALID });
      expect((await wire.get('/datasets')).json.map((one: { name: string }) => one.name)).not.to.include(name);
      const refused = [
        failed({ selected_skill_id: 'nope' }),
        failed({ tool_trace: [{ success: false }] }),
        failed({ tool_trace: [{ tool_name: 'x', tool_output: 3 }] }),
        failed({ run_id: ' ' }),
      ];
      for (const entry of refused) expect(await report(dataset, entry)).to.deep.include({ status: 400, json: INVALID });
      for (const options of [
        { max_runs: 'x' },
        { score_threshold: 'low' },
        { skill_name: 'nope' },
        { apply: true },
        { apply: true, proposal_id: 'x' },
      ]) {
        expect(await report(dataset, failed({ run_id: 'lost' }), options)).to.deep.include({
          status: 400,
          json: INVALID,
        });
      }
      for (const more of [{ success_score: 1.1 }, { feedback: -2 }, { tool_trace: [3] }, { started_at_ms: -1 }]) {
        expect((await report(dataset, failed(more))).json.detail[0].loc.slice(0, 3)).to.deep.equal([
          'body',
          'entry',
          'skill_run',
        ]);
      }
      // None of the refused runs is counted.
      const { json } = await report(dataset, failed(), {});
      const { json: proposal } = await proposalOf(dataset, json.items[1].proposal_id);
      expect(proposal.rationale).to.include('1 of 1 recorded runs');
    });

    it('count once, however often a run is sent, and the newest first', async () => {
      const { dataset } = await made();
      await Promise.all(Array.from({ length: 5 }, () => report(dataset, failed({ run_id: 'same', started_at_ms: 5 }))));
      await report(dataset, failed({ run_id: 'older', started_at_ms: 4 }));
      const { json } = await report(dataset, failed({ run_id: 'newer', started_at_ms: 6 }), { max_runs: 2 });
      const proposal = (await proposalOf(dataset, json.items[1].proposal_id)).json;
      expect(proposal.runs_used).to.deep.equal(['newer', 'same']);
      expect(proposal.rationale).to.include('of 3 recorded runs');
    });

    it('lose no change to a proposal that is older than the procedure, or of another skill', async () => {
      const { dataset, id, name } = await made();
      const { json } = await report(dataset, failed(), {});
      const proposal = json.items[1].proposal_id;
      await store(name, 'other');
      const foreign = { apply: true, proposal_id: proposal, skill_name: 'other' };
      expect(await report(dataset, failed(), foreign)).to.deep.include({ status: 400, json: INVALID });
      const elsewhere = await made();
      expect((await report(elsewhere.dataset, failed(), { apply: true, proposal_id: proposal })).status).to.equal(400);
      expect((await proposalOf(elsewhere.dataset, proposal)).json).to.deep.equal({ error: 'Proposal not found' });
      await store(name, 'triage', 'A newer way.');
      const late = await report(dataset, failed(), { apply: true, proposal_id: proposal });
      expect(late.status).to.equal(409);
      expect(late.json.detail).to.match(/has changed since .*\[ConflictError\]$/);
      expect((await skillOf(dataset, id)).procedure).to.equal('A newer way.');
    });

    it('leave a record of what was applied and deleted, without a word of theirs', async () => {
      const { dataset, id } = await made();
      const { json } = await report(dataset, failed(), {});
      const proposal = json.items[1].proposal_id;
      await report(dataset, failed(), { apply: true, proposal_id: proposal });
      await wire.remove(`/skills/${id}?dataset_id=${dataset}`);
      const recordOf = async (action: string) => (await wire.get(`/audit?action=${action}&limit=1`)).json.records[0];
      expect(await recordOf('proposal.applied')).to.deep.include({
        subject: proposal,
        details: { dataset, skill: id },
      });
      expect(await recordOf('skill.deleted')).to.deep.include({
        subject: id,
        details: { dataset, runs: 2, proposals: 1 },
      });
    });

    it('take their runs and proposals along when they are deleted, and with the dataset', async () => {
      const { dataset, name, id } = await made();
      const { json } = await report(dataset, failed(), {});
      await wire.remove(`/skills/${id}?dataset_id=${dataset}`);
      expect((await proposalOf(dataset, json.items[1].proposal_id)).status).to.equal(404);
      await store(name, 'triage');
      const again = (await report(dataset, failed(), {})).json.items[1].proposal_id;
      expect((await proposalOf(dataset, again)).json.rationale).to.include('1 of 1 recorded runs');
      expect((await wire.post('/forget', { dataset: name })).status).to.equal(200);
      expect((await store(name, 'later')).dataset_id).to.equal(dataset);
      expect((await list(dataset)).map((skill: { name: string }) => skill.name)).to.deep.equal(['later']);
      expect((await proposalOf(dataset, again)).status).to.equal(404);
    });
  });

  describe('that are looked for', () => {
    const shelf = async () => {
      const { dataset_id: dataset, dataset_name: name, items } = await store(fresh('kb'), 'triage');
      await store(name, 'refund', 'Pays customers back.');
      return { dataset, name, id: items[0].id };
    };
    const search = async (dataset: string, query: string, more: Record<string, unknown> = {}) =>
      wire.post('/search', { query, search_type: 'SKILLS', dataset_ids: [dataset], ...more });
    const found = (answer: { readonly json: unknown }) => (answer.json as [{ search_result: never }])[0].search_result;

    it('are found by their words before anything is built, without their procedures', async () => {
      const { dataset, id } = await shelf();
      const [first, second] = found(await search(dataset, 'sort urgent tickets')) as Record<string, unknown>[];
      const { score, source_dir: _, ...rest } = first ?? {};
      expect(score).to.be.within(0, 0.99);
      expect(rest).to.deep.equal({
        id,
        name: 'triage',
        description: 'Sorts incoming support tickets by urgency',
        version: '1.2',
        license: '',
        maintainer: '',
        maintainer_url: '',
        tags: ['support', 'tickets'],
        declared_tools: ['search', 'label'],
        dataset_scope: [dataset],
        is_active: true,
        source_repo_url: '',
      });
      expect(second).to.include({ name: 'refund', score: 1 });
      expect(found(await search(dataset, 'tickets', { top_k: 1 }))).to.have.length(1);
      expect(found(await search(dataset, 'tickets', { only_context: true }))).to.equal(
        '- `triage`: Sorts incoming support tickets by urgency\n- `refund`: Pays customers back.',
      );
    });

    it('are never those of a moment ago', async () => {
      const { dataset, name, id } = await shelf();
      const names = async () => (found(await search(dataset, 'x')) as { name: string }[]).map((skill) => skill.name);
      expect(await names()).to.deep.equal(['refund', 'triage']);
      await store(name, 'answer', 'Answers.');
      expect(await names()).to.deep.equal(['answer', 'refund', 'triage']);
      await wire.remove(`/skills/${id}?dataset_id=${dataset}`);
      expect(await names()).to.deep.equal(['answer', 'refund']);
      await wire.post('/forget', { dataset: name });
      const again = await store(name, 'new', 'New.');
      expect(again.dataset_id).to.equal(dataset);
      expect(await names()).to.deep.equal(['new']);
    });

    it('are none in a dataset without skills, and need exactly one dataset', async () => {
      const { json: dataset } = await wire.post('/datasets', { name: fresh('kb') });
      expect(found(await search(dataset.id, 'x'))).to.deep.equal([]);
      expect((await wire.post('/search', { query: 'x', search_type: 'SKILLS' })).json.detail).to.match(
        /\[InvalidSkillsDatasetScope\]$/,
      );
    });

    it('are recalled as items, and offered to who asks for a skill', async () => {
      const { dataset } = await shelf();
      const recall = async (query: string, more: Record<string, unknown> = {}) =>
        (await wire.post('/recall', { query, dataset_ids: [dataset], ...more })).json;
      expect((await recall('tickets', { search_type: 'SKILLS', top_k: 1 }))[0]).to.deep.include({
        kind: 'skill',
        search_type: 'SKILLS',
        text: 'triage: Sorts incoming support tickets by urgency',
        dataset_id: dataset,
        source: 'graph',
        structured: null,
      });
      const ask = 'Which skill should I use to sort support tickets?';
      const [marker, offered, ...others] = await recall(ask);
      expect(marker).to.include({ source: 'system' });
      expect(offered).to.include({
        source: 'skills',
        text: 'triage: Sorts incoming support tickets by urgency',
        skill: 'triage',
      });
      expect(offered.score).to.be.within(0, 0.99);
      expect(others).to.deep.equal([]);
      expect(await recall('How do I sort support tickets?')).to.have.length(1);
      expect(
        (await wire.post('/recall', { query: ask })).json.map(({ source }: { source: string }) => source),
      ).not.to.include('skills');
    });

    it('are named by answers to questions that ask for one', async () => {
      const { dataset, name } = await shelf();
      const form = new FormData();
      form.append('datasetName', name);
      form.append('raw_data', 'Support tickets are sorted by urgency every morning by Grace Hopper.');
      form.append('self_improvement', 'false');
      expect((await wire.form('/remember', form)).status).to.equal(200);
      const ask = async (query: string) => {
        const body = { query, search_type: 'GRAPH_COMPLETION', dataset_ids: [dataset] };
        return (found(await wire.post('/search', body)) as string[])[0];
      };
      const line = '- `triage`: Sorts incoming support tickets by urgency';
      expect(await ask('Which skill do I use to sort support tickets by urgency?')).to.include(line);
      expect(await ask('Who sorts support tickets by urgency?'))
        .to.be.a('string')
        .and.not.to.include(line);
      const body = {
        query: 'Which skill do I use to sort support tickets?',
        search_type: 'CHUNKS',
        dataset_ids: [dataset],
      };
      const sources = (await wire.post('/recall', body)).json.map(({ source }: { source: string }) => source);
      expect(sources).to.deep.equal(['graph', 'skills']);
    });
  });
});

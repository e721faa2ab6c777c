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

  it('are stored with what their front matter says, listed by name, fetched with their procedure', async () => {
    const name = fresh('kb');
    const stored = await store(name, 'support/triage');
    const { dataset_id: dataset, elapsed_seconds: elapsed, items, ...rest } = stored;
    expect(rest).to.deep.equal({
      status: 'completed',
      dataset_name: name,
      pipeline_run_id: null,
      items_processed: 1,
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

    it('report their runs, by name or id', async () => {
      const { dataset, name, id } = await made();
      const { json } = await report(dataset, failed({ run_id: 'r-1' }));
      const { elapsed_seconds: _, ...rest } = json;
      const item = {
        kind: 'skill_run',
        run_id: 'r-1',
        selected_skill_id: id,
        selected_skill_name: 'triage',
        success_score: 0.2,
      };
      expect(rest).to.deep.equal({
        status: 'completed',
        dataset_name: name,
        dataset_id: dataset,
        pipeline_run_id: null,
        items_processed: 1,
        items: [item],
        entry_type: 'skill_run',
        entry_id: 'r-1',
      });
      const byId = (await report(dataset, { type: 'skill_run', selected_skill_id: id })).json;
      expect(byId.items[0]).to.include({ selected_skill_name: 'triage', success_score: 0.5, run_id: byId.entry_id });
    });

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

    it('lead to a proposal, which changes the procedure when it is applied, once', async () => {
      const { dataset, id } = await made();
      const { procedure } = await skillOf(dataset, id);
      await report(dataset, failed({ run_id: 'first', started_at_ms: 1 }));
      await report(dataset, failed({ run_id: 'good', success_score: 0.9, error_type: '' }));
      const drafted = await report(dataset, failed({ run_id: 'second', started_at_ms: 2 }), { skill_name: 'triage' });
      const proposal = drafted.json.items[1];
      const { proposal_id: proposalId } = proposal;
      expect(proposal).to.deep.equal({
        kind: 'skill_improvement_proposal',
        proposal_id: proposalId,
        skill_name: 'triage',
        status: 'proposed',
      });
      const { json: before } = await proposalOf(dataset, proposalId);
      expect(before).to.deep.include({
        proposal_id: proposalId,
        skill_id: id,
        skill_name: 'triage',
        status: 'proposed',
        confidence: 0.5,
        model_name: 'engram/rules',
        old_procedure: procedure,
        runs_used: ['second', 'first'],
        dataset_scope: [dataset],
      });
      expect(before.proposed_procedure)
        .to.include('## Known failures')
        .and.to.include('Check: `label` failed here in 2 of 2');
      expect((await skillOf(dataset, id)).procedure).to.equal(procedure);

      const apply = { skill_name: 'triage', apply: true, proposal_id: proposalId };
      for (let time = 0; time < 2; time += 1) {
        const applied = await report(dataset, failed({ success_score: 0.9, error_type: '' }), apply);
        expect(applied.json.items[1]).to.deep.equal({ ...proposal, status: 'applied' });
      }
      expect((await skillOf(dataset, id)).procedure).to.equal(before.proposed_procedure);
      expect((await proposalOf(dataset, proposalId)).json).to.deep.equal({ ...before, status: 'applied' });
    });

    it('and did well lead to none', async () => {
      const { dataset } = await made();
      const { json } = await report(dataset, failed({ success_score: 0.5, error_type: '' }), {});
      expect(json.items).to.have.length(1);
      const stricter = await report(dataset, failed({ success_score: 0.5, error_type: '' }), {
        score_threshold: '0.6',
      });
      expect(stricter.json.items).to.have.length(2);
      expect((await proposalOf(dataset, stricter.json.items[1].proposal_id)).json.runs_used).to.have.length(2);
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

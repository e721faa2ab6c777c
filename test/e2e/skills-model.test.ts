import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  completion,
  failure,
  type ModelProvider,
  type ProviderRequest,
  startModelProvider,
} from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const QUICK = { 'retry-after-ms': '5' };
const REVISION = { proposed_procedure: 'Ask twice.', rationale: 'It timed out.', confidence: 0.8 };

describe('skills and graph models with a model', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  let wire: Wire;
  let dataset: string;
  before(async () => {
    provider = await startModelProvider();
    app = await startApp(provider.variables);
    wire = createWire(app.baseUrl);
  });
  beforeEach(async () => {
    provider.answer = () => undefined;
    provider.requests.splice(0);
    const body = { skills_text: 'Ask once.', skill_name: 'triage', dataset_name: `d${randomUUID()}` };
    dataset = (await wire.post('/skills', body)).json.dataset_id;
  });
  after(async () => {
    await app.stop();
    await provider.close();
  });

  const scripted = (schema: string, answer: unknown) => {
    provider.answer = (request: ProviderRequest) =>
      request.schema === schema ? completion(JSON.stringify(answer)) : undefined;
  };
  const report = (improvement?: object, more: object = {}) =>
    wire.post('/remember/entry', {
      entry: { type: 'skill_run', selected_skill_id: 'triage', success_score: 0, error_message: 'no answer', ...more },
      dataset_id: dataset,
      skill_improvement: improvement,
    });
  const proposalOf = async (id: string) => (await wire.get(`/proposals/${id}?dataset_id=${dataset}`)).json;

  it('drafts by it, and says so', async () => {
    scripted('SkillRevision', REVISION);
    const { json } = await report({});
    expect(await proposalOf(json.items[1].proposal_id)).to.include({
      proposed_procedure: '# triage\n\nAsk twice.',
      rationale: 'It timed out.',
      confidence: 0.8,
      model_name: 'custom/scripted',
    });
    const [request] = provider.requests.filter(({ schema }) => schema === 'SkillRevision');
    expect(request?.prompt).to.include('no answer').and.to.include('Ask once.');
  });

  it('answers by the skill that it opens, and keeps that as a run of it', async () => {
    await wire.post('/remember', { raw_data: 'Tickets of Ann Stone are urgent.', dataset_id: dataset });
    const steps = [
      { tool_call: { tool_name: 'load_skill', arguments: { name: 'triage', query: null, top_k: null } } },
      { final_answer: 'Ask Ann once.' },
    ];
    provider.answer = ({ schema }: ProviderRequest) => {
      if (schema === 'SkillRevision') return completion(JSON.stringify(REVISION));
      if (schema !== 'AgentStep') return undefined;
      const step = { thought: '', tool_call: null, final_answer: null, ...steps.shift() };
      return completion(JSON.stringify(step));
    };
    const { json } = await wire.post('/search', {
      query: 'How are tickets of Ann Stone handled?',
      searchType: 'AGENTIC_COMPLETION',
      datasetIds: [dataset],
      skills: ['triage'],
    });
    expect(json[0].search_result).to.deep.equal(['Ask Ann once.']);
    const shown = provider.requests.filter(({ schema }) => schema === 'AgentStep').map(({ prompt }) => prompt);
    expect(shown[0]).to.include('Tickets of Ann Stone').and.not.include('You called');
    expect(shown[1]).to.match(/You called load_skill with \{"name":"triage"\}:\n<result-[0-9a-f]+>\n[^<]*Ask once\./u);
    const drafted = await report({ score_threshold: 0.6 });
    const revision = provider.requests.find(({ schema }) => schema === 'SkillRevision');
    expect(drafted.status).to.equal(200);
    expect(revision?.prompt).to.include('How are tickets of Ann Stone handled?');
  });

  it('asks nothing for runs that did well, nor for an application', async () => {
    scripted('SkillRevision', REVISION);
    const { json } = await report({});
    provider.requests.splice(0);
    await report({ apply: true, proposal_id: json.items[1].proposal_id });
    await wire.post('/remember/entry', {
      entry: { type: 'skill_run', selected_skill_id: 'triage', success_score: 1 },
      dataset_id: dataset,
    });
    expect(provider.requests).to.deep.equal([]);
  });

  it('changes nothing when it fails: 402 for the budget, 409 for anything else', async () => {
    provider.answer = () => failure(402, { message: 'no credit' });
    const paid = await report({}, { run_id: 'lost' });
    expect(paid.status).to.equal(402);
    expect(paid.json.detail).to.match(/\[LLMPaymentRequiredError\]$/);
    provider.answer = () => failure(400, { message: 'no such thing' }, QUICK);
    expect(await report({}, { run_id: 'lost too' })).to.deep.include({
      status: 409,
      json: { error: 'An error occurred during remember.' },
    });
    scripted('SkillRevision', REVISION);
    const { json } = await report({}, { run_id: 'kept' });
    expect((await proposalOf(json.items[1].proposal_id)).runs_used).to.deep.equal(['kept']);
  });

  it('shows it the skills that may fit, as data, when a question asks for one', async () => {
    const form = new FormData();
    form.append('datasetId', dataset);
    form.append('raw_data', 'Tickets are sorted by Grace Hopper.');
    form.append('self_improvement', 'false');
    const name = { skills_text: '---\nsummary: Sorts tickets\n---\nSort.', skill_name: 'sorter', dataset_id: dataset };
    await wire.post('/skills', name);
    expect((await wire.form('/remember', form)).status).to.equal(200);
    provider.requests.splice(0);
    const body = {
      query: 'Which skill do I use to sort tickets?',
      search_type: 'RAG_COMPLETION',
      dataset_ids: [dataset],
    };
    expect((await wire.post('/search', body)).status).to.equal(200);
    const shown = provider.requests.filter(({ prompt }) =>
      /<skills-[0-9a-f]{16}>\n- `sorter`: Sorts tickets\n/.test(prompt),
    );
    expect(shown).to.have.length(1);
  });

  it('writes prompts for graph models', async () => {
    provider.answer = () => completion('Extract people.');
    const answer = await wire.post('/llm/custom-prompt', { graphModel: { title: 'Company' } });
    expect(answer.json).to.deep.equal({ customPrompt: 'Extract people.' });
  });

  it('asks with the parameters of the caller, and says which of them it does not know', async () => {
    provider.answer = () => completion('Extract people.');
    const parameters = { temperature: 0.5, max_tokens: 77, top_p: 0.9, seed: 5 };
    const prompt = (given: object) =>
      wire.post('/llm/custom-prompt', { graphModel: { title: 'Company' }, parameters: given });
    expect((await prompt(parameters)).headers.get('warning')).to.equal(null);
    const sent = { temperature: 0.5, top_p: 0.9, seed: 5 };
    const { body } = provider.requests.at(-1) as { body: Record<string, unknown> };
    expect(body).to.include(sent);
    expect(body['max_tokens'] ?? body['max_completion_tokens']).to.equal(77);
    expect((await prompt({ mood: 'good' })).headers.get('warning')).to.match(/no effect: mood\. Known are temperature/);
    expect((await prompt({ seed: 'x' })).status).to.equal(400);
    const form = new FormData();
    form.append('text', 'Grace Hopper works.');
    form.append('parameters', JSON.stringify(sent));
    const person = { name: 'Person', description: '', fields: [], relations: [] };
    scripted('GraphModel', { title: 'People', classes: [person] });
    expect((await wire.form('/llm/infer-schema', form)).status).to.equal(200);
    expect(provider.requests.at(-1)?.body).to.include(sent);
  });

  it('makes graph models, and refuses answers that are none', async () => {
    const infer = () => {
      const form = new FormData();
      form.append('text', 'Grace Hopper works.');
      return wire.form('/llm/infer-schema', form);
    };
    const person = { name: 'Person', description: '', fields: [], relations: [{ name: 'knows', target: 'Person' }] };
    scripted('GraphModel', { title: 'People', classes: [person] });
    const { graphSchema } = (await infer()).json;
    expect(graphSchema).to.include({ title: 'People', type: 'object' });
    expect(graphSchema.$defs.Person.properties.knows).to.deep.equal({
      type: 'array',
      items: { $ref: '#/$defs/Person' },
    });
    scripted('GraphModel', { title: 'People', classes: [] });
    expect(await infer()).to.deep.include({
      status: 422,
      json: { error: 'LLM output did not match expected schema.' },
    });
  });

  it('answers the text of the contract when the budget is used up', async () => {
    provider.answer = () => failure(402, { message: 'no credit' });
    expect(await wire.post('/llm/custom-prompt', { graphModel: { title: 'Company' } })).to.deep.include({
      status: 402,
      json: { error: 'Token budget exhausted', detail: 'The configured LLM token budget is exhausted.' },
    });
  });
});

import { expect } from 'chai';
import { createSearchWorld, OWNER, type SearchWorld, startSearch } from '../../../test/support/search-world.ts';
import type { Skill } from '../../common/domain/skill.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { createSkills } from '../../common/records/ingest/skills.ts';
import { createSessionEntries } from '../../common/records/sessions/session-entries.ts';
import { createSessions } from '../../common/records/sessions/sessions.ts';

const ADA = { title: 'ada', text: 'Ada Lovelace was born in London. Ada Lovelace wrote notes on the engine.' };
const GRACE = { title: 'grace', text: 'Grace Hopper wrote the first compiler. Grace Hopper served in the Navy.' };
const PROCEDURE = 'First look for the birthplace. Then write it in capitals.';

const skill = (name: string, more: Partial<Skill> = {}): Skill => ({
  id: `id-${name}`,
  name,
  description: `How to ${name}`,
  maintainer: '',
  maintainerUrl: '',
  version: '',
  license: '',
  sourceRepoUrl: '',
  tags: [],
  declaredTools: [],
  isActive: true,
  procedure: PROCEDURE,
  sourceDir: name,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
const SKILLS = [
  skill('biography', { declaredTools: ['memory_search', 'shell'] }),
  skill('quiet'),
  skill('retired', { isActive: false }),
];

interface Step {
  readonly call?: { readonly tool: string; readonly name?: string; readonly query?: string; readonly top_k?: number };
  readonly answer?: string;
}
type Json = Record<string, unknown>;

/** Takes the steps in turn; answers `forced` when it is asked for an answer alone. */
function agent(steps: readonly Step[]) {
  const prompts: string[] = [];
  const forced: string[] = [];
  const usage = { inputTokens: 1, outputTokens: 1 };
  const model: LanguageModel = {
    name: 'test/model',
    async text({ prompt }) {
      forced.push(prompt);
      return { text: 'forced', usage };
    },
    async structured({ prompt }) {
      const step = steps[prompts.length] ?? {};
      prompts.push(prompt);
      const { tool, ...given } = step.call ?? { tool: null };
      const tool_call =
        tool === null ? null : { tool_name: tool, arguments: { name: null, query: null, top_k: null, ...given } };
      return { value: { thought: '', tool_call, final_answer: step.answer ?? null }, usage };
    },
    async *stream() {
      yield 'forced';
    },
  };
  return { model, prompts, forced };
}

describe('AGENTIC_COMPLETION', () => {
  let world: SearchWorld;
  let notes: DatasetRef;
  beforeEach(async () => {
    world = await createSearchWorld();
    notes = world.dataset('notes');
    await world.fill(notes, [ADA, GRACE]);
    const changes = SKILLS.map((one) => ({ skill: one, was: null }));
    await world.store.commit(scopeOf(notes), createSkills(world.store).storeWrites(null, 'r1', changes));
  });

  async function ask(
    model: LanguageModel | null,
    body: object = {},
    prepare?: (search: Awaited<ReturnType<typeof startSearch>>) => Promise<unknown>,
  ) {
    await using search = await startSearch(world, [notes], {
      settings: { autoFeedback: false },
      ...(model === null ? {} : { models: { languageModel: model } }),
    });
    await prepare?.(search);
    const response = await search.app.post('/api/v1/search', {
      query: 'Where was Ada Lovelace born?',
      datasets: ['notes'],
      searchType: 'AGENTIC_COMPLETION',
      ...body,
    });
    const json = (await response.json()) as Json[];
    return { status: response.status, json, result: json[0]?.['search_result'] };
  }

  it('returns the final answer of the model', async () => {
    const { model, prompts, forced } = agent([{ answer: 'In London.' }]);
    expect((await ask(model)).result).to.deep.equal(['In London.']);
    expect(prompts).to.have.length(1);
    expect(prompts[0]).to.include('born in London').and.include('`memory_search` (read)').and.not.include('load_skill');
    expect(forced).to.deep.equal([]);
  });

  it('opens the named skills, and offers the tools that they declare', async () => {
    const { model, prompts } = agent([
      { call: { tool: 'load_skill', name: 'Biography' } },
      { call: { tool: 'memory_search', query: 'Who wrote the first compiler?', top_k: 1 } },
      { answer: 'LONDON' },
    ]);
    const { result } = await ask(model, { skills: ['biography', 'missing', 'retired'] });
    expect(result).to.deep.equal(['LONDON']);
    expect(prompts[0]).to.include('- `biography`: How to biography').and.not.include(PROCEDURE);
    expect(prompts[0]).to.not.include('missing').and.not.include('retired').and.not.include('shell');
    expect(prompts[1]).to.include(PROCEDURE);
    expect(prompts[2]).to.include('[grace] Grace Hopper wrote the first compiler.');
  });

  it('records the opened skills, and answers when recording fails', async () => {
    const steps = [
      { call: { tool: 'load_skill', name: 'biography' } },
      { call: { tool: 'shell', name: 'rm' } },
      { answer: 'LONDON' },
    ];
    const told: RequestOf<'ingest.RecordSkillRuns'>[] = [];
    await ask(agent(steps).model, { skills: ['biography', 'quiet'], sessionId: 's' }, (search) =>
      search.messenger.serve('ingest.RecordSkillRuns', async (request) => {
        told.push(request);
        return { recorded: 1 };
      }),
    );
    expect(told).to.have.length(1);
    const [run] = told[0]?.runs ?? [];
    expect(run).to.deep.include({ skill: 'id-biography', session: 's', taskText: 'Where was Ada Lovelace born?' });
    expect(run?.candidateSkillIds).to.deep.equal(['id-biography', 'id-quiet']);
    expect(run?.toolTrace.map(({ toolName, success }) => [toolName, success])).to.deep.equal([
      ['load_skill', true],
      ['shell', false],
    ]);
    expect(JSON.stringify(run)).to.not.include('LONDON').and.not.include(PROCEDURE);
    // Nobody takes it: there is no ingest here.
    expect((await ask(agent(steps).model, { skills: ['biography'] })).result).to.deep.equal(['LONDON']);
  });

  it('refuses tools that are not allowed, not declared or unknown', async () => {
    const wrong = [
      { call: { tool: 'memory_search', query: 'compiler' } },
      { call: { tool: 'shell', name: 'rm' } },
      { call: { tool: 'load_skill', name: 'biography' } },
      { call: { tool: 'load_skill', name: 'quiet' } },
    ];
    const quiet = agent(wrong);
    await ask(quiet.model, { skills: ['quiet'] });
    expect(quiet.prompts[1]).to.include("Error: there is no tool named 'memory_search'.");
    expect(quiet.prompts[2]).to.include("Error: there is no tool named 'shell'.");
    expect(quiet.prompts[3]).to.include("Error: there is no skill named 'biography'.");
    expect(quiet.prompts[4]).to.include(PROCEDURE);
    const none = agent(wrong.slice(0, 1));
    await ask(none.model, { tools: [] });
    expect(none.prompts[0]).to.include('Tools:\n(none)');
    expect(none.prompts[1]).to.include("Error: there is no tool named 'memory_search'.");
  });

  it('makes one final call when the steps are used up or the model returns no step', async () => {
    const search = { call: { tool: 'memory_search', query: 'compiler' } };
    const busy = agent(Array(50).fill(search));
    expect((await ask(busy.model)).result).to.deep.equal(['forced']);
    expect(busy.prompts).to.have.length(6);
    expect(busy.forced[0]).to.include('wrote the first compiler');
    const short = agent([search, search, search]);
    await ask(short.model, { maxIter: 2 });
    expect(short.prompts).to.have.length(2);
    const endless = agent(Array(50).fill(search));
    await ask(endless.model, { maxIter: 1_000_000 });
    expect(endless.prompts).to.have.length(20);
    const idle = agent([{}]);
    expect((await ask(idle.model)).result).to.deep.equal(['forced']);
    expect(idle.prompts).to.have.length(1);
  });

  it('checks the permission to read before each tool call', async () => {
    const { model, prompts } = agent([{ call: { tool: 'memory_search', query: 'compiler' } }, { answer: 'x' }]);
    let asked = 0;
    await ask(model, {}, async ({ messenger }) => {
      const { call } = messenger;
      const refusing: typeof call = async (path, ...rest) => {
        if (path === 'auth.ResolveDatasets') asked += 1;
        if (asked > 1) throw engramError('PermissionDeniedError', 'The grant was taken back.');
        return call(path, ...rest);
      };
      Object.assign(messenger, { call: refusing });
    });
    expect(prompts[1]).to.include('Error: The grant was taken back.').and.not.include('first compiler');
  });

  it('shows its skills and tools for only_context, and stores them with the turn', async () => {
    const { result } = await ask(agent([]).model, { onlyContext: true, skills: ['quiet'] });
    expect(result).to.include('Memory:').and.include('- `quiet`: How to quiet').and.include('`load_skill` (read)');
    await ask(agent([{ answer: 'In London.' }]).model, { sessionId: 's' });
    const scope = { tenant: OWNER.tenant };
    const sessions = createSessions(world.store);
    const session = await sessions.get(scope, { user: OWNER.id, session: 's' });
    if (session === null) throw new Error('there is no session');
    const [turn] = await createSessionEntries(world.store, sessions).qasAfter(scope, session, 0, 1);
    expect(turn?.context).to.include('born in London');
  });

  it('quotes memory and names skills without a model, and opens none', async () => {
    const { result } = await ask(null, { skills: ['biography'] });
    expect(result).to.have.length(1);
    expect((result as string[])[0])
      .to.include('born in London')
      .and.include('- `biography`: How to biography');
    expect((result as string[])[0]).to.not.include(PROCEDURE);
  });

  it('fails with the error of a used up budget', async () => {
    const { model } = agent([]);
    const broke: LanguageModel = {
      ...model,
      structured: () => Promise.reject(engramError('LLMPaymentRequiredError', 'LLM budget exhausted')),
    };
    expect((await ask(broke)).status).to.equal(402);
  });
});

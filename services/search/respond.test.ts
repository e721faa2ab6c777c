import { expect } from 'chai';
import { createSearchWorld, type SearchWorld, startSearch } from '../../test/support/search-world.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { LanguageModel } from '../common/ports/models.ts';

interface Answer {
  readonly toolCalls: readonly {
    readonly function: { readonly name: string };
    readonly output: { readonly status: string; readonly data: { readonly result: unknown } };
  }[];
  readonly output: readonly { readonly type: string; readonly content?: readonly { readonly text: string }[] }[];
  readonly usage: { readonly total_tokens: number };
}

/** Takes the steps in turn. */
function stepping(steps: readonly (readonly [string, object] | string)[]) {
  const prompts: string[] = [];
  const systems: string[] = [];
  const usage = { inputTokens: 2, outputTokens: 1 };
  const model: LanguageModel = {
    name: 'test/model',
    text: () => Promise.resolve({ text: 'Forced.', usage }),
    async structured({ prompt, system }, { onUsage }) {
      onUsage?.(usage, 'language');
      const step = steps[prompts.length];
      prompts.push(prompt);
      systems.push(system);
      if (step === undefined || typeof step === 'string')
        return { value: { tool_call: null, final_answer: step ?? null }, usage };
      const tool_call = { tool_name: step[0], arguments: JSON.stringify(step[1]) };
      return { value: { tool_call, final_answer: null }, usage };
    },
    async *stream() {},
  };
  return { model, prompts, systems };
}

describe('POST /responses with a model', () => {
  let world: SearchWorld;
  let notes: DatasetRef;
  beforeEach(async () => {
    world = await createSearchWorld();
    notes = world.dataset('notes');
    await world.fill(notes, [{ title: 'ada', text: 'Ada Lovelace lives in Oslo.' }]);
  });

  async function respond(languageModel: LanguageModel, body: object) {
    await using search = await startSearch(world, [notes], { models: { languageModel } });
    const response = await search.app.post('/api/v1/responses/', body);
    expect(response.status).to.equal(200);
    const { toolCalls, output, usage } = (await response.json()) as Answer;
    return { calls: toolCalls, text: output.at(-1)?.content?.[0]?.text, tokens: usage.total_tokens };
  }

  it('runs the tools that the model calls, gives it their results and returns its answer', async () => {
    const { model, prompts, systems } = stepping([
      ['search', { search_query: 'Ada Lovelace Oslo', search_type: 'CHUNKS', top_k: '1' }],
      ['search', { search_query: '' }],
      ['nope', {}],
      ['search', { search_query: 'x', datasets: ['missing'] }],
      'In Oslo.',
    ]);
    const { calls, text, tokens } = await respond(model, { input: 'Where does she live?', instructions: 'Be brief.' });
    expect(text).to.equal('In Oslo.');
    expect(calls.map(({ output }) => output.status)).to.deep.equal(['success', 'success', 'success', 'error']);
    expect(prompts.at(1)).to.include('Ada Lovelace lives in Oslo.');
    expect(JSON.stringify(calls.slice(1)))
      .to.include('needs a search_query')
      .and.include("no function named 'nope'");
    expect(systems[0]).to.include('`cognify`').and.include('Be brief.');
    expect(tokens).to.equal(15);
  });

  it('ends after a few steps, and calls no tool when it may not', async () => {
    const { model } = stepping(Array.from({ length: 20 }, () => ['nope', {}] as const));
    const { calls, text } = await respond(model, { input: 'x' });
    expect([calls.length, text]).to.deep.equal([6, 'Forced.']);
    const none = await respond(stepping([['search', { search_query: 'x' }]]).model, {
      input: 'x',
      tool_choice: 'none',
    });
    expect([none.calls.length, none.text]).to.deep.equal([0, 'Forced.']);
  });
});

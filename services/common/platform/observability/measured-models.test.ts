import { expect } from 'chai';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import type { Embedder, LanguageModel } from '../../ports/models.ts';
import { measuredEmbedder, measuredLanguageModel } from './measured-models.ts';
import type { Metrics } from './metrics.ts';

type Call = Parameters<Metrics['modelCall']>[0];

const context = { scope: { tenant: PERSONAL_TENANT }, purpose: 'query' } as const;
const usage = { inputTokens: 2, outputTokens: 1 };
const ask = { system: '', prompt: '' };

function world(more: Partial<LanguageModel> = {}) {
  const calls: Call[] = [];
  const metrics = { modelCall: (call: Call) => void calls.push(call) };
  const model: LanguageModel = {
    name: 'custom/m',
    text: async () => ({ text: 'hello', usage }),
    structured: () => Promise.reject(new Error('no')),
    async *stream() {
      yield 'a';
      yield 'b';
    },
    ...more,
  };
  const told = () => calls.map(({ kind, outcome, usage: used }) => [kind, outcome, used?.inputTokens ?? null]);
  return { calls, metrics, told, model: measuredLanguageModel(model, metrics) };
}

describe('measured models', () => {
  it('tell of every call, and pass answers and errors through', async () => {
    const { model, told, calls } = world();
    expect(await model.text(ask, context)).to.deep.equal({ text: 'hello', usage });
    const failed = model.structured({ ...ask, schema: {}, schemaName: 's' }, context).catch(String);
    expect(await failed).to.equal('Error: no');
    expect(told()).to.deep.equal([
      ['language', 'ok', 2],
      ['language', 'error', null],
    ]);
    expect(calls[0]).to.include({ model: 'custom/m', purpose: 'query' });
  });

  it('tell of a stream once, when it ends, is left, or fails', async () => {
    const { model, told } = world();
    expect(await Array.fromAsync(model.stream(ask, context))).to.deep.equal(['a', 'b']);
    for await (const _ of model.stream(ask, context)) break;
    const broken = world({
      async *stream() {
        yield 'a';
        throw new Error('cut');
      },
    });
    expect(await Array.fromAsync(broken.model.stream(ask, context)).catch(String)).to.equal('Error: cut');
    expect(told().map(([, outcome]) => outcome)).to.deep.equal(['ok', 'ok']);
    expect(broken.told().map(([, outcome]) => outcome)).to.deep.equal(['error']);
  });

  it('tell of embeddings', async () => {
    const { metrics, told } = world();
    const space = { model: 'e', dimensions: 1 };
    const embedder: Embedder = {
      space,
      maxInputTokens: 9,
      embed: async (texts) => texts.map(() => new Float32Array(1)),
    };
    const measured = measuredEmbedder(embedder, metrics);
    expect(await measured.embed(['a', 'b'], context)).to.have.length(2);
    expect(measured).to.include({ space, maxInputTokens: 9 });
    expect(told()).to.deep.equal([['embedding', 'ok', null]]);
  });
});

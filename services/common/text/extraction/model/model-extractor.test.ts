import { expect } from 'chai';
import { PERSONAL_TENANT } from '../../../kernel/scope.ts';
import type { LanguageModel } from '../../../ports/models.ts';
import { createModelExtractor } from './model-extractor.ts';

const context = { scope: { tenant: PERSONAL_TENANT }, purpose: 'extraction' as const };
const usage = { inputTokens: 7, outputTokens: 3 };

function modelAnswering(
  value: unknown,
  calls: { schemaName: string; prompt: string; system: string }[] = [],
): LanguageModel {
  return {
    name: 'test/model',
    text: async () => ({ text: '', usage }),
    structured: async (call) => {
      calls.push(call);
      return { value, usage };
    },
    async *stream() {},
  };
}

const input = {
  text: 'Ada Lovelace met Charles Babbage. She lived in London.',
  documentName: 'file-7',
  title: 'The life of Ada',
  headings: ['Life'],
  knownNames: [{ name: 'Analytical Engine', type: 'Concept' }],
};
const node = (id: string, name: string, type = 'Person') => ({ id, name, type, description: `${name}.` });

describe('extraction by a model', () => {
  it('makes one call per chunk that carries the document, the section and the known names', async () => {
    const calls: { schemaName: string; prompt: string; system: string }[] = [];
    await createModelExtractor({ model: modelAnswering({ summary: 's', nodes: [], edges: [] }, calls) }).extract(
      input,
      context,
    );
    expect(calls).to.have.length(1);
    expect(calls[0]?.prompt).to.include('The life of Ada').and.not.include('file-7');
    expect(calls[0]?.prompt).to.include('Life').and.include('Analytical Engine').and.include(input.text);
  });

  it('gives the stated relation with the sentence of the text as evidence and drops edges without their nodes', async () => {
    const answer = {
      summary: ' Ada met Babbage. ',
      nodes: [node('ada', 'Ada Lovelace'), node('cb', 'Charles Babbage')],
      edges: [
        { source_node_id: 'ada', target_node_id: 'cb', relationship_name: 'Met With', description: 'Ada met him.' },
        { source_node_id: 'ada', target_node_id: 'nobody', relationship_name: 'knew', description: '' },
      ],
    };
    const extraction = await createModelExtractor({ model: modelAnswering(answer) }).extract(input, context);
    expect(extraction.relations).to.deep.equal([
      {
        source: 'Ada Lovelace',
        target: 'Charles Babbage',
        relation: 'met_with',
        evidence: 'Ada Lovelace met Charles Babbage.',
      },
    ]);
    expect(extraction.sentences.map(({ entities }) => entities)).to.deep.equal([
      ['Ada Lovelace', 'Charles Babbage'],
      [],
    ]);
    expect(extraction.summary).to.equal('Ada met Babbage.');
    expect(extraction.usage).to.deep.equal(usage);
  });

  it('replaces the instruction by the custom prompt', async () => {
    const calls: { schemaName: string; prompt: string; system: string }[] = [];
    const extractor = createModelExtractor({ model: modelAnswering({ summary: '', nodes: [], edges: [] }, calls) });
    await extractor.extract({ ...input, customPrompt: 'Only cities.' }, context);
    expect(calls[0]?.system).to.equal('Only cities.');
  });

  it('reads an instance of a custom graph model as nodes and edges', async () => {
    const graphModel = { title: 'Company', type: 'object', properties: {} };
    const answer = {
      summary: 's',
      graph: { name: 'Acme', employees: [{ name: 'Ada', role: 'engineer' }], address: { city: { name: 'Oslo' } } },
    };
    const { entities, relations } = await createModelExtractor({ model: modelAnswering(answer) }).extract(
      { ...input, graphModel },
      context,
    );
    expect(entities.map(({ name, type }) => `${name}:${type}`)).to.deep.equal([
      'Acme:Company',
      'Ada:Employee',
      'Oslo:City',
    ]);
    expect(relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`)).to.deep.equal([
      'Acme employees Ada',
      'Acme city Oslo',
    ]);
  });
});

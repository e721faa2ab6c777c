import { expect } from 'chai';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { readGraphModel } from '../../common/text/extraction/model/graph-model.ts';
import { customPrompt } from './custom-prompt.ts';
import { graphSchemaOf, inferSchema, piecesOf, sampleText } from './infer-schema.ts';
import type { LlmCaller, LlmDependencies } from './model-call.ts';

const CALLER: LlmCaller = {
  principal: { id: asId('u'), tenant: PERSONAL_TENANT, parentId: null } as unknown as Principal,
  context: { requestId: 'r' },
};

interface Asked {
  readonly prompt: string;
}

/** Dependencies whose model answers with a value and records its calls. */
function withModel(answer: unknown, missingModelKey: string | null = null) {
  const asked: Asked[] = [];
  const usage = { inputTokens: 1, outputTokens: 1 };
  const languageModel = {
    name: 'test/model',
    async text(call: Asked) {
      asked.push(call);
      return { text: String(answer), usage };
    },
    async structured(call: Asked) {
      asked.push(call);
      return { value: answer, usage };
    },
  } as unknown as LanguageModel;
  const models = { current: async () => ({ languageModel, missingModelKey, extractor: null }) };
  return { dependencies: { models } as unknown as LlmDependencies, asked };
}

describe('inferring a graph model', () => {
  const outline = {
    title: 'people at work',
    classes: [
      {
        name: 'person',
        description: 'A human',
        fields: [{ name: 'Job title', description: 'What she does' }],
        relations: [
          { name: 'works at', target: 'Company' },
          { name: 'owns', target: 'Castle' },
        ],
      },
      { name: 'Company', description: '', fields: [], relations: [] },
    ],
  };

  it("makes a JSON schema without dangling references of the model's outline", async () => {
    const { dependencies, asked } = withModel(outline);
    const schema = await inferSchema(dependencies, CALLER, 'Grace works at ACME.');
    expect(asked[0]?.prompt).to.match(/^<text-[0-9a-f]{16}>\nGrace works at ACME\.\n<\/text-/);
    expect(schema).to.deep.equal({
      title: 'PeopleAtWork',
      type: 'object',
      properties: {
        person_list: { type: 'array', items: { $ref: '#/$defs/Person' } },
        company_list: { type: 'array', items: { $ref: '#/$defs/Company' } },
      },
      required: ['person_list', 'company_list'],
      $defs: {
        Person: {
          title: 'Person',
          type: 'object',
          description: 'A human',
          properties: {
            works_at: { type: 'array', items: { $ref: '#/$defs/Company' } },
            job_title: { type: 'string', description: 'What she does' },
            name: { type: 'string', description: 'The fullest name that the text uses' },
            description: { type: 'string', description: 'What the text says of it' },
          },
          required: ['name'],
        },
        Company: {
          title: 'Company',
          type: 'object',
          properties: {
            name: { type: 'string', description: 'The fullest name that the text uses' },
            description: { type: 'string', description: 'What the text says of it' },
          },
          required: ['name'],
        },
      },
    });
    const model = readGraphModel(schema);
    expect(model.placeOf(model.itemsOf((schema['properties'] as JsonObject)['person_list']), {}).type).to.equal(
      'Person',
    );
  });

  it('answers 422 with the text of the contract when the model returns no outline', async () => {
    for (const answer of [null, 'text', { title: 'x', classes: [] }, { classes: [{}] }]) {
      const error = await inferSchema(withModel(answer).dependencies, CALLER, 'x').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(HttpError);
      expect((error as HttpError).body).to.deep.equal({ error: 'LLM output did not match expected schema.' });
    }
  });

  it('uses class and field names of the model as names only', () => {
    const one = (name: string) => ({ name, description: '', fields: [{ name, description: '' }], relations: [] });
    const schema = graphSchemaOf({ title: '__proto__', classes: [one('__proto__'), one('<b>'), one('???'), one('Ж')] });
    expect(Object.keys(schema['$defs'] as object)).to.deep.equal(['Proto', 'B', 'Thing', 'Ж']);
    expect(schema['title']).to.equal('Proto');
  });
});

describe('writing a custom prompt', () => {
  it("returns the model's answer to the fenced schema", async () => {
    const { dependencies, asked } = withModel(' Extract people. ');
    expect(await customPrompt(dependencies, CALLER, { title: 'X' })).to.equal('Extract people.');
    expect(asked[0]?.prompt).to.match(/<schema-[0-9a-f]{16}>\n\{"title":"X"\}\n<\/schema-/);
  });

  it('makes the prompt from the schema when the model answers nothing, and throws without its key', async () => {
    const call = { title: 'X' };
    expect(await customPrompt(withModel(' ').dependencies, CALLER, call)).to.include('model "X"');
    const error = await customPrompt(withModel('', 'no key').dependencies, CALLER, call).catch((one: unknown) => one);
    expect(error).to.include({ wireName: 'LLMAPIKeyNotSetError', status: 422 });
  });
});

describe('sampling a text', () => {
  it('returns a short text whole, and beginning, middle and end of a long one', () => {
    expect(sampleText('short')).to.equal('short');
    const words = Array.from({ length: 30_000 }, (_, index) => `w${index}`).join(' ');
    const sample = sampleText(words);
    expect(sample.length).to.be.at.most(24_100);
    const parts = sample.split('\n[…]\n');
    expect(parts).to.have.length(3);
    expect(parts[1]).to.match(/\bw15\d\d\d\b/);
    expect(sampleText('x'.repeat(100_000)).length).to.be.at.most(24_100);
  });

  it('cuts a sample into pieces without losing text', () => {
    const text = Array.from({ length: 500 }, (_, index) => `Sentence number ${index} says it.`).join(' ');
    const pieces = piecesOf(text);
    expect(pieces.length).to.be.greaterThan(3);
    expect(pieces.join('').replaceAll(/\s+/g, ' ').trim()).to.equal(text);
    expect(Math.max(...piecesOf('x'.repeat(50_000)).map(({ length }) => length))).to.be.at.most(12_000);
  });
});

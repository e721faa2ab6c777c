import { expect } from 'chai';
import { answerSchema } from './response-schema.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

describe('the response schema', () => {
  it('resolves references, removes constraints and makes optional properties nullable', () => {
    const given = object(
      {
        city: { $ref: '#/$defs/City' },
        year: { type: 'integer', minimum: 1 },
        tags: { type: 'array', items: { type: 'string', maxLength: 3 } },
        kind: { enum: ['a', 'b'], description: 'Which.' },
        note: { type: ['string', 'null'] },
      },
      {
        required: ['city', 'tags', 'note'],
        $defs: { City: object({ name: { type: 'string' } }, { required: ['name'], title: 'City' }) },
      },
    );
    const strict = { additionalProperties: false };
    expect(answerSchema(given)).to.deep.equal({
      type: 'object',
      properties: {
        city: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], ...strict },
        year: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        tags: { type: 'array', items: { type: 'string' } },
        kind: { anyOf: [{ enum: ['a', 'b'], description: 'Which.' }, { type: 'null' }] },
        note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['city', 'year', 'tags', 'kind', 'note'],
      ...strict,
    });
  });

  const deep = (levels: number): object => (levels === 0 ? { type: 'string' } : object({ a: deep(levels - 1) }));
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`p${index}`, { type: 'string' }]));
  const refused: readonly (readonly [string, object])[] = [
    ['a root that is no object', { type: 'array', items: { type: 'string' } }],
    ['no properties', object({})],
    ['allOf', object({ a: { allOf: [{ type: 'string' }] } })],
    ['oneOf', object({ a: { oneOf: [{ type: 'string' }] } })],
    ['an array without items', object({ a: { type: 'array' } })],
    ['no type', object({ a: {} })],
    ['a name that is no identifier', object({ 'a b': { type: 'string' } })],
    ['a reference to elsewhere', object({ a: { $ref: 'http://x/y' } })],
    ['a reference that is no text', object({ a: { $ref: { toString: 1 } } })],
    [
      'a recursive reference',
      object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: object({ a: { $ref: '#/$defs/A' } }) } }),
    ],
    ['more depth than 10', deep(12) as object],
    ['more than 200 properties', object(many)],
    ['an enum of objects', object({ a: { enum: [{}] } })],
  ];
  for (const [what, schema] of refused) {
    it(`refuses ${what} with 422`, () => {
      expect(() => answerSchema(schema as Record<string, unknown>))
        .to.throw(/^response_schema cannot be used: /)
        .with.property('status', 422);
    });
  }
});

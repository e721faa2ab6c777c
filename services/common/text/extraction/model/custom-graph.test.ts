import { expect } from 'chai';
import type { JsonObject } from '../../../kernel/json.ts';
import { graphOfInstance } from './custom-graph.ts';
import { customSchema } from './extraction-prompt.ts';

const string = { type: 'string' };
const object = (title: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  title,
  type: 'object',
  properties,
  ...more,
});
const shown = ({ entities, relations }: ReturnType<typeof graphOfInstance>) => ({
  nodes: entities.map(({ name, type }) => `${name}:${type}`),
  edges: relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`),
});

describe('an instance of a graph model', () => {
  it('gives nodes of the classes of the model, wherever they are defined', () => {
    const model = object(
      'Company',
      {
        name: string,
        boss: { anyOf: [{ $ref: '#/$defs/Person' }, { type: 'null' }] },
        staff: { type: 'array', items: { $ref: '#/$defs/Person' } },
        seat: { allOf: [{ $ref: '#/$defs/City' }] },
        products: { type: 'array', items: { type: 'object', properties: { name: string } } },
      },
      {
        $defs: {
          Person: object('Person', { name: string, role: string }),
          City: { type: 'object', properties: { name: string } },
        },
      },
    );
    const ada = { name: 'Ada', role: 'engineer' };
    const instance = {
      name: 'Acme',
      boss: ada,
      staff: [ada, { name: 'Alan' }],
      seat: { name: 'Oslo' },
      products: [{ name: 'Anvil' }],
    };
    const graph = graphOfInstance(instance, model);
    expect(shown(graph)).to.deep.equal({
      nodes: ['Acme:Company', 'Ada:Person', 'Alan:Person', 'Oslo:City', 'Anvil:Product'],
      edges: ['Acme boss Ada', 'Acme staff Ada', 'Acme staff Alan', 'Acme seat Oslo', 'Acme products Anvil'],
    });
    expect(graph.entities[1]).to.include({ description: 'role: engineer', mentions: 2 });
  });

  it('takes the branch of a union that has the fields found', () => {
    const any = {
      anyOf: [object('Book', { name: string, pages: string }), object('Film', { name: string, minutes: string })],
    };
    const model = object('Shelf', { works: { type: 'array', items: any } });
    const works = [
      { name: 'Emma', pages: '400' },
      { name: 'Alien', minutes: '117' },
    ];
    expect(shown(graphOfInstance({ works }, model)).nodes).to.deep.equal(['Emma:Book', 'Alien:Film']);
  });

  it('comes to an end where the branches of a union lead back to it', () => {
    const own = { anyOf: [{ $ref: '#' }, object('Book', { name: string })] };
    expect(shown(graphOfInstance({ name: 'Emma' }, { title: 'Shelf', ...own })).nodes).to.deep.equal(['Emma:Book']);
    const twice = { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }] };
    const model = { title: 'Shelf', ...twice, $defs: { A: twice } };
    expect(shown(graphOfInstance({ name: 'Emma' }, model)).nodes).to.deep.equal(['Emma:Entity']);
  });

  it('names an object by the index field of its class, and keeps lists of plain values findable', () => {
    const metadata = { type: 'object', default: { index_fields: ['sku'] } };
    const model = object('Part', { sku: string, metadata, colours: { type: 'array', items: string } });
    const [entity] = graphOfInstance({ sku: 'X-1', name: 'bolt', colours: ['red', 'blue'] }, model).entities;
    expect(entity).to.include({ name: 'X-1', description: 'colours: red, blue' });
  });

  it('is read as nodes and edges when it is made of them', () => {
    const node = (id: string) => ({ id, name: id.toUpperCase(), type: 'Person', description: '' });
    const edge = { source_node_id: 'a', target_node_id: 'b', relationship_name: 'Works With' };
    const graph = graphOfInstance({ nodes: [node('a'), node('b')], edges: [edge] }, object('MyGraph', {}));
    expect(shown(graph)).to.deep.equal({ nodes: ['A:Person', 'B:Person'], edges: ['A works_with B'] });
  });

  it('makes hostile names harmless and stays bounded', () => {
    const model = object('List', { items: { type: 'array', items: object('Thing', { name: string }) } });
    const items = [
      { name: '  two\n\u0000lines ' },
      { name: '\ud800' },
      { name: "''" },
      { name: 'x'.repeat(10_000) },
      ...Array.from({ length: 2000 }, (_, index) => ({ name: `n${index}` })),
    ];
    const { entities } = graphOfInstance({ items }, model);
    expect(entities[0]?.name).to.equal('two lines');
    expect(entities.every(({ name }) => name.length <= 200 && name.isWellFormed())).to.equal(true);
    expect(entities).to.have.length(500);
  });
});

describe('the schema of a graph model sent to a model', () => {
  it('leaves out the fields of the base class of the client library', () => {
    const base = { id: string, created_at: string, topological_rank: string, metadata: string, type: string };
    const model = object('Person', { ...base, name: string }, { required: ['name', 'id'] });
    const { properties } = customSchema(model) as { properties: { graph: JsonObject } };
    expect(properties.graph).to.deep.include({ properties: { name: string }, required: ['name'] });
    const own = object('Release', { version: string, id: string });
    expect((customSchema(own) as { properties: { graph: JsonObject } }).properties.graph['properties']).to.have.keys(
      'version',
      'id',
    );
  });

  it('keeps references, also to the root of the model', () => {
    const tree = object('Tree', { name: string, children: { type: 'array', items: { $ref: '#' } } });
    const schema = JSON.stringify(customSchema(tree));
    expect(schema).to.not.include('"$ref":"#"');
    expect(schema).to.include('"graph":{"$ref":"#/$defs/GraphRoot"}');
    const instance = { name: 'root', children: [{ name: 'leaf', children: [] }] };
    expect(shown(graphOfInstance(instance, tree))).to.deep.equal({
      nodes: ['root:Tree', 'leaf:Tree'],
      edges: ['root children leaf'],
    });
  });
});

import { expect } from 'chai';
import {
  createSearchWorld,
  type SearchApp,
  type SearchWorld,
  startSearch,
  type WorldPassage,
} from '../../../test/support/search-world.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Json } from '../../common/kernel/json.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import type { CypherQuery, CypherRows, GraphStore } from '../../common/storage/ports/graph-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';

const ADA: WorldPassage = { title: 'ada', text: 'Ada Lovelace lives in Oslo.' };
const QUERY = 'MATCH (n:Entity) RETURN n.name';

type Body = Record<string, unknown>;
type Answer = { readonly status: number; readonly body: unknown };

/** Answers a query over the dataset; what is no row is thrown. */
type Script = (text: string, dataset: string) => readonly (readonly Json[])[] | Error;

describe('Cypher search', () => {
  let world: SearchWorld;
  let notes: DatasetRef;
  let other: DatasetRef;
  let empty: DatasetRef;

  beforeEach(async () => {
    world = await createSearchWorld();
    [notes, other, empty] = ['notes', 'other', 'empty'].map((name) => world.dataset(name)) as [
      DatasetRef,
      DatasetRef,
      DatasetRef,
    ];
    await world.fill(notes, [ADA]);
    await world.fill(other, [ADA]);
  });

  type Options = NonNullable<Parameters<typeof startSearch>[2]>;

  const startOn = (graph: GraphStore, { settings, ...options }: Options = {}) =>
    startSearch(world, [notes, other, empty], {
      ...options,
      indexes: { ...world.indexes, graph },
      settings: { allowCypherQuery: true, ...settings },
    });

  /** The memory store with a scripted language; the real one answers in test/integration/cluster/cypher.test.ts. */
  async function start(script: Script, options: Options = {}) {
    const queries: { readonly text: string; readonly dataset: string; readonly query: CypherQuery }[] = [];
    const search = await startOn(
      {
        ...world.indexes.graph,
        async cypher(scope, query): Promise<CypherRows> {
          queries.push({ text: query.text, dataset: scope.dataset, query });
          const rows = query.text.includes('labels(n)') ? VOCABULARY : script(query.text, scope.dataset);
          if (rows instanceof Error) throw rows;
          return { columns: ['n.name'], rows, isCut: false };
        },
      },
      options,
    );
    return { ...search, queries };
  }

  async function post(search: SearchApp, path: string, body: object): Promise<Answer> {
    const response = await search.app.post(`/api/v1${path}`, body);
    return { status: response.status, body: await response.json() };
  }
  const cypher = (search: SearchApp, body: object = {}) =>
    post(search, '/search', { query: QUERY, searchType: 'CYPHER', datasets: ['notes'], ...body });
  const results = ({ status, body }: Answer) => {
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body as Body[]).map((entry) => entry['search_result']);
  };
  const detail = ({ body }: Answer) => String((body as Body)['detail']);

  it('returns the rows of each dataset as lists, with the query in explain', async () => {
    await using search = await start((_, dataset) => (dataset === notes.id ? [['Ada'], ['Bob']] : [[{ id: 'x' }]]));
    expect(results(await cypher(search))).to.deep.equal([[['Ada'], ['Bob']]]);
    expect(results(await cypher(search, { datasets: ['other', 'notes'], topK: 1 }))).to.deep.equal([
      [[{ id: 'x' }]],
      [['Ada'], ['Bob']],
    ]);
    const { body } = await cypher(search, { explain: true });
    expect((body as Body[])[0]?.['explain']).to.deep.equal({ cypher: QUERY, columns: ['n.name'], is_cut: false });
  });

  it('returns plain rows without access control, those of several datasets joined', async () => {
    await using search = await start((_, dataset) => [[dataset]], { settings: { accessControl: false } });
    expect((await cypher(search)).body).to.deep.equal([[notes.id]]);
    const both = await cypher(search, { datasets: ['other', 'notes'] });
    expect(both.body).to.deep.equal([[other.id], [notes.id]]);
    expect((await cypher(search, { onlyContext: true })).body).to.deep.equal([null]);
  });

  it('passes the committed generations to the graph store', async () => {
    const unseen = await world.write(notes, { title: 'late', text: 'Bob lives in Rome.' });
    await using search = await start(() => []);
    await cypher(search);
    const [item] = (await world.ledger.allCommitted({ tenant: notes.tenant, dataset: notes.id })).keys();
    const origins = [
      { item, generation: 1 },
      { item, generation: 2 },
      { item: unseen, generation: 1 },
    ] as readonly Provenance[];
    expect(await search.queries[0]?.query.committed(origins)).to.deep.equal([{ item, generation: 1 }]);
  });

  it('runs no query for a dataset without memory, nor for only_context', async () => {
    await using search = await start(() => [['x']]);
    expect(results(await cypher(search, { datasets: ['empty'] }))).to.deep.equal([[]]);
    expect(results(await cypher(search, { onlyContext: true }))).to.deep.equal([null]);
    expect(search.queries).to.deep.equal([]);
  });

  it('returns 400 for a refused query, or its error beside the results of other datasets', async () => {
    const refused = engramError('CypherSearchError', 'Only reading is supported.');
    await using search = await start((text, dataset) => (text === '' || dataset === other.id ? refused : [['Ada']]));
    const blank = await cypher(search, { query: '' });
    expect([blank.status, detail(blank)]).to.deep.equal([400, 'Only reading is supported. [CypherSearchError]']);
    const { body } = await cypher(search, { datasets: ['other', 'notes'] });
    expect((body as Body[]).map((entry) => [entry['search_result'], entry['error']])).to.deep.equal([
      [[], 'Only reading is supported. [CypherSearchError]'],
      [[['Ada']], undefined],
    ]);
    expect((await cypher(search, { topK: 0 })).status).to.equal(422);
  });

  it('returns one recall item per row, and stores no rows in the history', async () => {
    await using search = await start(() => [['Ada', { id: 'ada' }, [1]]]);
    const body = { query: QUERY, searchType: 'CYPHER', datasets: ['notes'] };
    const { body: items } = await post(search, '/recall', body);
    const [item, ...rest] = items as Body[];
    expect(rest).to.deep.equal([]);
    expect(item).to.deep.include({
      kind: 'cypher',
      search_type: 'CYPHER',
      text: '["Ada",{"id":"ada"},[1]]',
      raw: { value: [{ value: 'Ada' }, { id: 'ada' }, { value: [{ value: 1 }] }] },
      score: null,
      metadata: {},
      structured: null,
      source: 'graph',
    });
    expect((await post(search, '/recall', { ...body, onlyContext: true })).body).to.deep.equal([]);
    const history = (await (await search.app.get('/api/v1/search')).json()) as Body[];
    expect(history.map(({ text }) => text)).to.deep.equal([QUERY, '', QUERY, '']);
  });

  describe('Cypher generated by a model', () => {
    const model = (...answers: readonly (string | Error)[]) => {
      const prompts: string[] = [];
      const languageModel: LanguageModel = {
        name: 'test/model',
        async structured({ prompt, schemaName }) {
          expect(schemaName).to.equal('CypherQuery');
          const answer = answers[prompts.push(prompt) - 1] ?? 'MATCH (n) RETURN n';
          if (answer instanceof Error) throw answer;
          return { value: { cypher: answer }, usage: { inputTokens: 1, outputTokens: 1 } };
        },
        text: () => Promise.reject(new Error('not asked')),
        async *stream() {},
      };
      return { languageModel, prompts };
    };
    const question = { query: 'Who lives in Oslo?', searchType: 'NATURAL_LANGUAGE' };

    it('sends the names of the graph, and calls the model once when its query finds rows', async () => {
      const { languageModel, prompts } = model('```cypher\nMATCH (n) RETURN n.name\n```');
      await using search = await start(() => [['Ada']], { models: { languageModel } });
      const answer = await cypher(search, { ...question, explain: true });
      expect(results(answer)).to.deep.equal([[['Ada']]]);
      expect(answer.body).to.have.nested.property('[0].explain.cypher', 'MATCH (n) RETURN n.name');
      expect(prompts).to.have.length(1);
      expect(prompts[0])
        .to.include('Who lives in Oslo?')
        .and.include('- Entity: name, description')
        .and.include('(:Entity)-[:lives_in]->(:`Big City`)')
        .and.include('()-[:met]->()')
        .and.include('person');
      const [item] = (await post(search, '/recall', { ...question, datasets: ['notes'] })).body as Body[];
      expect(item).to.include({ kind: 'natural_language', search_type: 'NATURAL_LANGUAGE', text: '["Ada"]' });
    });

    it('sends the problem of a failed query, and calls the model at most three times', async () => {
      const { languageModel, prompts } = model('DROP', 'EMPTY', 'GOOD', 'DROP', 'DROP', 'EMPTY', 'GOOD');
      const refused = engramError('CypherSearchError', 'Only reading is supported.');
      const script: Script = (text) => (text === 'DROP' ? refused : text === 'EMPTY' ? [] : [['Ada']]);
      await using search = await start(script, { models: { languageModel } });
      expect(results(await cypher(search, question))).to.deep.equal([[['Ada']]]);
      expect(prompts).to.have.length(3);
      expect(prompts[1]).to.include('Query: DROP\nProblem: Only reading is supported.');
      expect(prompts[2]).to.include('Query: EMPTY\nProblem: It found nothing.').and.include('Query: DROP');
      expect(results(await cypher(search, question))).to.deep.equal([[]]);
      expect(prompts).to.have.length(6);
    });

    it('does not call the model again when the store is unavailable', async () => {
      const { languageModel, prompts } = model();
      const down = engramError('ServiceUnavailableError', 'Neo4j is away.', { retryable: true });
      await using search = await start(() => down, { models: { languageModel } });
      expect((await cypher(search, question)).status).to.equal(503);
      expect(prompts).to.have.length(1);
    });

    it('does not call the model for only_context or a dataset without memory', async () => {
      const { languageModel, prompts } = model();
      await using search = await start(() => [['x']], { models: { languageModel } });
      expect(results(await cypher(search, { ...question, onlyContext: true }))).to.deep.equal([null]);
      expect(results(await cypher(search, { ...question, datasets: ['empty'] }))).to.deep.equal([[]]);
      expect(prompts).to.deep.equal([]);
    });

    it('returns 402 when the budget is used up, and 422 without a model', async () => {
      const { languageModel } = model(engramError('LLMPaymentRequiredError', 'Budget used up.'));
      await using poor = await start(() => [], { models: { languageModel } });
      expect((await cypher(poor, question)).status).to.equal(402);
      await using without = await start(() => []);
      const none = await cypher(without, question);
      expect([none.status, detail(none)]).to.deep.equal([
        422,
        'NATURAL_LANGUAGE search needs a language model, and none is configured. Set LLM_API_KEY or LLM_ENDPOINT. [LLMAPIKeyNotSetError]',
      ]);
      await using keyless = await start(() => [], { models: { missingModelKey: 'LLM API key is not set.' } });
      expect(detail(await cypher(keyless, question))).to.equal('LLM API key is not set. [LLMAPIKeyNotSetError]');
      expect((await cypher(without)).status).to.equal(200);
    });
  });
});

const VOCABULARY: readonly (readonly Json[])[] = [
  ['property', 'Entity', 'name', null, 9],
  ['property', 'Entity', 'description', null, 8],
  ['relation', 'Entity', 'lives_in', 'Big City', 2],
  ['relation', null, 'met', null, 1],
  ['entityType', null, 'person', null, 4],
];

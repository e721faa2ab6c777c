import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { withBackends } from '../backend.ts';
import { type OwnNames, takeOwnNames } from '../own-names.ts';

type Body = Record<string, unknown>;
interface JournalEntry {
  readonly body: {
    readonly messages: readonly { readonly content: string }[];
    readonly response_format?: { readonly json_schema: { readonly name: string } };
  };
}

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j', 'openai'], () => {
  /** The whole way: what cognify built, the ledger's view of it, the guard, and a model behind an endpoint. */
  describe('searching in Cypher in the cluster shape', () => {
    const endpoint = process.env['ENGRAM_TEST_OPENAI_BASE_URL'] ?? '';
    const key = `sk-cypher-${randomBytes(4).toString('hex')}`;
    const control = (path: string, init?: RequestInit) => fetch(`${new URL(endpoint).origin}${path}?key=${key}`, init);
    let names: OwnNames;
    let app: StartedApp;

    before(async () => {
      names = takeOwnNames();
      app = await startApp({
        ...names.environment,
        HTTP_API_HOST: '127.0.0.1',
        ENABLE_AUTO_MIGRATIONS: 'true',
        FASTAPI_USERS_JWT_SECRET: randomBytes(32).toString('hex'),
        ALLOW_CYPHER_QUERY: 'true',
        LLM_PROVIDER: 'openai',
        LLM_MODEL: 'gpt-5-mini',
        LLM_ENDPOINT: endpoint,
        LLM_API_KEY: key,
      });
      await add('people', 'Ada Lovelace lives in Oslo.');
      await add('people', 'Charles Babbage lives in London.');
      await add('secrets', 'Mata Hari lives in Paris.');
    });

    after(async () => {
      await Promise.all(['people', 'secrets', 'passing'].map((dataset) => post('/forget', { dataset })));
      await app.stop();
      await names.remove();
      await control('/_reset', { method: 'POST' });
    });

    async function post(path: string, body: object): Promise<{ readonly status: number; readonly body: unknown }> {
      const response = await fetch(`${app.baseUrl}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    }

    async function add(datasetName: string, data: string): Promise<string> {
      const added = await post('/add', { datasetName, data });
      expect((await post('/cognify', { datasets: [datasetName] })).status).to.equal(200);
      return ((added.body as Body)['data_ingestion_info'] as { data_id: string }[])[0]?.data_id ?? '';
    }

    const search = (query: string, more: object = {}) =>
      post('/search', { query, searchType: 'CYPHER', datasets: ['people'], ...more });

    /** One result for each dataset. */
    async function rows(query: string, more: object = {}): Promise<readonly unknown[]> {
      const { status, body } = await search(query, more);
      expect(status, JSON.stringify(body)).to.equal(200);
      return (body as Body[]).map((entry) => entry['search_result']);
    }

    const HOMES = 'MATCH (p:Entity)-[:lives_in]->(c:Entity) RETURN p.name AS who, c.name AS home ORDER BY who';

    it('answers from the graph that cognify built, dataset by dataset', async () => {
      const [people] = await rows(HOMES);
      expect(people).to.deep.equal([
        ['Ada Lovelace', 'Oslo'],
        ['Charles Babbage', 'London'],
      ]);
      const both = await rows(HOMES, { datasets: ['secrets', 'people'] });
      expect(both).to.deep.equal([[['Mata Hari', 'Paris']], people]);
      const { body } = await search(HOMES, { explain: true });
      expect((body as Body[])[0]?.['explain']).to.deep.equal({
        cypher: HOMES,
        columns: ['who', 'home'],
        is_cut: false,
      });
      expect(await rows(HOMES, { onlyContext: true })).to.deep.equal([null]);
    });

    it('gives nodes as their properties, and recall one item a row', async () => {
      const [[[city]]] = (await rows("MATCH (n:Entity {name: 'Oslo'}) RETURN n")) as [[[Body]]];
      expect(city).to.include({ name: 'Oslo', type: 'Entity' }).and.not.have.property('_ref');
      const { body } = await post('/recall', { query: HOMES, searchType: 'CYPHER', datasets: ['people'] });
      expect((body as Body[]).map(({ kind, text }) => [kind, text])).to.deep.equal([
        ['cypher', '["Ada Lovelace","Oslo"]'],
        ['cypher', '["Charles Babbage","London"]'],
      ]);
    });

    it('refuses what writes or reaches further, with the reason', async () => {
      for (const [query, reason] of [
        ['MATCH (n) DETACH DELETE n', /Only reading is supported.* \[CypherSearchError\]$/],
        ['CALL db.labels() YIELD label RETURN label', /\[CypherSearchError\]$/],
        ['MATCH (n) RETURN m', /: Variable `m` not defined\. \[CypherSearchError\]$/],
        ['', /\[CypherSearchError\]$/],
      ] as const) {
        const { status, body } = await search(query);
        expect(status, query).to.equal(400);
        expect((body as Body)['detail'], query).to.match(reason);
      }
      expect(JSON.stringify(await rows('MATCH (n) RETURN n')))
        .to.include('Ada')
        .and.not.include('Mata');
    });

    it('sees what was added a moment ago, and nothing of what was forgotten', async () => {
      const item = await add('passing', 'Grace Hopper lives in Arlington.');
      const passing = { datasets: ['passing'] };
      expect(await rows(HOMES, passing)).to.deep.equal([[['Grace Hopper', 'Arlington']]]);
      await add('passing', 'Alan Turing lives in Wilmslow.');
      expect(await rows(HOMES, passing)).to.deep.equal([
        [
          ['Alan Turing', 'Wilmslow'],
          ['Grace Hopper', 'Arlington'],
        ],
      ]);
      expect((await post('/forget', { dataset: 'passing', dataId: item })).status).to.equal(200);
      expect(await rows(HOMES, passing)).to.deep.equal([[['Alan Turing', 'Wilmslow']]]);
      expect((await post('/forget', { dataset: 'passing', memoryOnly: true })).status).to.equal(200);
      expect(await rows('MATCH (n) RETURN n', passing)).to.deep.equal([[]]);
    });

    describe('that a model writes', () => {
      const question = { searchType: 'NATURAL_LANGUAGE' };
      /** The last rule that fits answers. */
      const script = (...rules: readonly { readonly contains: string; readonly cypher: string }[]) =>
        control('/_script', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(
            rules.toReversed().map(({ contains, cypher }) => ({
              when: { kind: 'chat', schema: 'CypherQuery', contains },
              reply: { content: { cypher } },
            })),
          ),
        });

      /** What the model was asked for a query since the last time. */
      async function prompts(): Promise<readonly string[]> {
        const { requests } = (await (await control('/_requests')).json()) as { requests: JournalEntry[] };
        await control('/_requests', { method: 'DELETE' });
        const asked = requests.filter(({ body }) => body.response_format?.json_schema.name === 'CypherQuery');
        return asked.map(({ body }) => body.messages.at(-1)?.content ?? '');
      }

      it('answers with the rows of its query, which it writes from the names of the graph', async () => {
        const cypher = "MATCH (p:Entity)-[:lives_in]->(c) WHERE toLower(p.name) CONTAINS 'ada' RETURN c.name LIMIT 100";
        await script({ contains: 'Where does Ada live?', cypher });
        const { body } = await search('Where does Ada live?', { ...question, explain: true });
        expect((body as Body[])[0]?.['search_result']).to.deep.equal([['Oslo']]);
        expect(body).to.have.nested.property('[0].explain.cypher', cypher);
        const [prompt] = await prompts();
        expect(prompt)
          .to.include('(:Entity)-[:lives_in]->(:Entity)')
          .and.match(/- Entity: .*\bname\b/)
          .and.match(/- DocumentChunk: .*\btext\b/)
          .and.match(/Names of EntityType nodes: .*location/i);
      });

      it('tries again with the reason, and stays inside the guard', async () => {
        const asked = 'Who lives in Oslo?';
        await script(
          { contains: asked, cypher: "MATCH (n) SET n.name = 'x' RETURN n" },
          { contains: 'Attempt 1 failed', cypher: "MATCH (n {name: 'Nowhere'}) RETURN n" },
          { contains: 'Attempt 2 failed', cypher: "MATCH (p)-[:lives_in]->({name: 'Oslo'}) RETURN p.name" },
        );
        expect(await rows(asked, question)).to.deep.equal([[['Ada Lovelace']]]);
        const [, second, third, ...more] = await prompts();
        expect(second).to.include('Problem: Only reading is supported');
        expect(third).to.include('Problem: It found nothing.');
        expect(more).to.deep.equal([]);
        expect(await rows("MATCH (n {name: 'x'}) RETURN n")).to.deep.equal([[]]);
      });

      it('answers nothing when three queries in a row find nothing', async () => {
        const asked = 'Who lives on the moon?';
        await script(
          { contains: asked, cypher: 'MATCH (n:Moon) RETURN n' },
          { contains: `${asked}\n\nAttempt`, cypher: 'MATCH (n:Moon) RETURN n.name' },
        );
        expect(await rows(asked, question)).to.deep.equal([[]]);
        expect(await prompts()).to.have.length(3);
      });
    });
  });
});

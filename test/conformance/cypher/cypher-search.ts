import { expect } from 'chai';
import { createWire } from '../../support/wire.ts';

type Body = Record<string, unknown>;

/** Requests of the tests of searches in Cypher, in the dataset `people`. */
export function cypherRequests(baseUrl: () => string) {
  const post = async (path: string, body: object): Promise<{ readonly status: number; readonly body: unknown }> => {
    const { status, json } = await createWire(baseUrl()).post(path, body);
    return { status, body: json };
  };
  const search = (query: string, more: object = {}) =>
    post('/search', { query, searchType: 'CYPHER', datasets: ['people'], ...more });
  return {
    post,
    search,
    /** One result for each dataset. */
    async rows(query: string, more: object = {}): Promise<readonly unknown[]> {
      const { status, body } = await search(query, more);
      expect(status, JSON.stringify(body)).to.equal(200);
      return (body as Body[]).map((entry) => entry['search_result']);
    },
  };
}

/** Searches in Cypher by HTTP on a service that allows them, from what cognify built; alike in every shape. */
export function cypherSearchConformance(baseUrl: () => string): void {
  describe('searching in Cypher', () => {
    before(async () => {
      await add('people', 'Ada Lovelace lives in Oslo.');
      await add('people', 'Charles Babbage lives in London.');
      await add('secrets', 'Mata Hari lives in Paris.');
    });

    const { post, search, rows } = cypherRequests(baseUrl);

    async function add(datasetName: string, data: string): Promise<string> {
      const added = await post('/add', { datasetName, data });
      expect((await post('/cognify', { datasets: [datasetName] })).status).to.equal(200);
      return ((added.body as Body)['data_ingestion_info'] as { data_id: string }[])[0]?.data_id ?? '';
    }

    /** Who a text begins with, and where it ends; whatever relations were found in it. */
    const HOMES = `MATCH (t:DocumentChunk)-[:contains]->(p:Entity), (t)-[:contains]->(c:Entity)
      WHERE t.text STARTS WITH p.name AND t.text ENDS WITH c.name + '.'
      RETURN p.name AS who, c.name AS home ORDER BY who`;

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
  });
}

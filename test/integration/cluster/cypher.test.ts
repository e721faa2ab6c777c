import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { cypherRequests, cypherSearchConformance } from '../../conformance/cypher/cypher-search.ts';
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
    const { post, search, rows } = cypherRequests(() => app.baseUrl);

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
    });

    after(async () => {
      await Promise.all(['people', 'secrets', 'passing'].map((dataset) => post('/forget', { dataset })));
      await app.stop();
      await names.remove();
      await control('/_reset', { method: 'POST' });
    });

    cypherSearchConformance(() => app.baseUrl);

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

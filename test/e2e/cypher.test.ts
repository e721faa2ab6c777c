import { cypherSearchConformance } from '../conformance/cypher/cypher-search.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

describe('Cypher in the embedded shape', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp({ ALLOW_CYPHER_QUERY: 'true' });
  });
  after(() => app.stop());
  cypherSearchConformance(() => app.baseUrl);
});

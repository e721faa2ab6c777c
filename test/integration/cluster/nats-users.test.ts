import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPathRouter, type PathRouter } from '../../../services/app/cluster/path-router.ts';
import { SERVICE_NAMES, type ServiceName } from '../../../services/common/domain/service-paths.ts';
import { natsPermissions } from '../../../services/common/platform/messaging/nats-permissions.ts';
import { createLogger } from '../../../services/common/platform/observability/logger.ts';
import { createMetrics } from '../../../services/common/platform/observability/metrics.ts';
import { takeTour } from '../../e2e/tour-steps.ts';
import { improveSession } from '../../support/improve-session.ts';
import { md5, REMOTE_KEY, type RemoteMemoryServer, startRemoteMemory } from '../../support/remote-memory-server.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';
import { withBackends } from '../backend.ts';
import { createOperator } from '../nats/operator-jwts.ts';
import { canStartServers, type SecondServer, startServer } from '../nats/second-server.ts';
import { type OwnNames, takeOwnNames } from '../own-names.ts';

interface WireTrace {
  readonly trace_id: string;
  readonly root_name: string;
  readonly spans: readonly { readonly name: string }[];
}

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('services that may do on NATS only what they need, by a JWT each', function () {
    this.timeout(120_000);
    if (!canStartServers) {
      it.skip('not tested, ../shared/backends is missing');
      return;
    }
    const apps = new Map<ServiceName, StartedApp>();
    const refused: string[] = [];
    let folder: string;
    let names: OwnNames;
    let server: SecondServer;
    let remote: RemoteMemoryServer;
    let router: PathRouter;
    const metrics = createMetrics();
    let baseUrl: string;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'engram-nats-users-'));
      names = takeOwnNames();
      remote = await startRemoteMemory();
      const operator = createOperator();
      await writeFile(join(folder, 'operator.conf'), operator.serverConfig);
      server = await startServer({ NATS_CONF: join(folder, 'operator.conf') });
      const shared = {
        ...names.environment,
        ENGRAM_NATS_URL: server.exports['URL'] ?? '',
        ENABLE_AUTO_MIGRATIONS: 'true',
        FASTAPI_USERS_JWT_SECRET: 'a secret of this test',
        ENGRAM_ROOT_KEYS: `one:${randomBytes(32).toString('base64')}`,
        REQUIRE_AUTHENTICATION: 'false',
        ENABLE_BACKEND_ACCESS_CONTROL: 'false',
        COGNEE_TRACING_ENABLED: 'true',
        COGNEE_SERVICE_URL: remote.baseUrl,
        COGNEE_API_KEY: REMOTE_KEY,
      };
      const prefix = names.environment['ENGRAM_NATS_SUBJECT_PREFIX'] ?? '';
      for (const service of SERVICE_NAMES) {
        const { publish, subscribe, allowResponses } = natsPermissions(service);
        const own = (subjects: readonly string[]) => subjects.map((subject) => inPlace(subject, prefix));
        const file = join(folder, `${service}.creds`);
        const limits = { publish: own(publish), subscribe: own(subscribe), responses: allowResponses };
        await writeFile(file, operator.credentials(limits), { mode: 0o600 });
        const variables = { ...shared, ENGRAM_SERVICES: service, ENGRAM_NATS_CREDENTIALS_FILE: file };
        apps.set(service, await startApp(variables, { logger: listener(service) }));
      }
      router = createPathRouter({
        replicasOf: (service) => [apps.get(service)?.baseUrl ?? ''],
        logger: listener('router'),
        metrics,
      });
      baseUrl = `http://127.0.0.1:${(await router.listen(0, '127.0.0.1')).port}`;
    });
    after(async () => {
      await router?.close();
      metrics.close();
      for (const app of [...apps.values()].toReversed()) await app.stop();
      await server?.[Symbol.asyncDispose]();
      await remote?.[Symbol.asyncDispose]();
      await names?.remove();
      await rm(folder, { recursive: true, force: true });
    });

    /** Keeps what was refused. */
    function listener(name: string) {
      const write = (line: string): void => {
        if (/bus\.connection\.refused|may not (ask|answer|publish)/.test(line)) refused.push(`${name}: ${line}`);
      };
      return createLogger({ level: 'warn', name, destination: { write } });
    }

    /** Of a search, by all that had part in it: they tell ingest over the bus. */
    async function showsOneTrace(wire: Wire): Promise<void> {
      const id = randomBytes(16).toString('hex');
      const headers = { traceparent: `00-${id}-b7ad6b7169203331-01`, 'content-type': 'application/json' };
      expect((await wire.post('/search', { query: 'Ada', datasets: ['notes'] }, headers)).status).to.equal(200);
      const whole = ['POST /api/v1/search', 'ask auth.Authenticate', 'answer auth.Authenticate', 'documents.find'];
      const traces = async () => (await wire.get('/activity/spans')).json as readonly WireTrace[];
      await until('a trace of search and auth', async () => {
        const spans = (await traces()).find(({ trace_id: each }) => each === id)?.spans ?? [];
        const names = new Set(spans.map(({ name }) => name));
        return whole.every((name) => names.has(name));
      });
      await until('the trace of a sync', async () =>
        (await traces()).some(({ root_name: name }) => name === 'run sync'),
      );
    }

    it('do all that they are there for', async () => {
      await takeTour(baseUrl, folder);
      const wire = createWire(baseUrl);
      const notes = improveSession(wire, 'notes');
      await notes.ask('s1', 'Who met Ada?', 'Charles Babbage met Ada Lovelace.');
      expect((await notes.improve(['s1'])).json.status).to.equal('completed');
      const background = await notes.improve(['s1'], { runInBackground: true });
      expect(background.json.status).to.equal('running');
      expect((await wire.post('/search', { query: 'Ada', datasets: ['notes'], searchType: 'CHUNKS' })).status).to.equal(
        200,
      );
      const { status, json } = await wire.post('/sync', {});
      expect(status, JSON.stringify(json)).to.equal(200);
      await until('the end of the sync', async () => !(await wire.get('/sync/status')).json.has_running_sync);
      expect(remote.items(json.dataset_ids[0]).size).to.be.greaterThan(0);
      remote.put(json.dataset_ids[0], 'mary.txt', 'Mary Somerville met Ada Lovelace.');
      expect((await wire.post('/sync', {})).status).to.equal(200);
      await until('the end of the second sync', async () => !(await wire.get('/sync/status')).json.has_running_sync);
      const items = (await wire.get(`/datasets/${json.dataset_ids[0]}/data`)).json as readonly {
        readonly name: string;
      }[];
      expect(items.map(({ name }) => name)).to.include('mary');
      expect(remote.items(json.dataset_ids[0]).has(md5('Mary Somerville met Ada Lovelace.'))).to.equal(true);
      await showsOneTrace(wire);
      expect((await wire.post('/forget', { everything: true })).status).to.equal(200);
      expect((await fetch(`${baseUrl}/health`)).status).to.equal(200);
      expect(refused, 'nothing was refused').to.deep.equal([]);
    });
  });
});

/** `{prefix}` and `{PREFIX}` as a server with these services has them. */
function inPlace(subject: string, prefix: string): string {
  return subject.replaceAll('{prefix}', prefix).replaceAll('{PREFIX}', prefix.toUpperCase().replaceAll('.', '_'));
}

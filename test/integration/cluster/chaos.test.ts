import { randomBytes } from 'node:crypto';
import { makeDataDir, startProcess } from '../../support/engram-process.ts';
import { withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';
import { type ChaosSubject, describeClusterChaos } from './chaos-cases.ts';

/** All services in one process: they talk to each other over NATS all the same. */
async function startOne(environment: Readonly<Record<string, string>>): Promise<ChaosSubject> {
  const names = takeOwnNames();
  const data = makeDataDir();
  const started = await startProcess({
    dataDir: data.path,
    environment: {
      ...names.environment,
      ...environment,
      FASTAPI_USERS_JWT_SECRET: randomBytes(32).toString('hex'),
      HTTP_API_HOST: '127.0.0.1',
      ENABLE_AUTO_MIGRATIONS: 'true',
    },
  });
  return {
    ...started,
    pids: () => [started.pid],
    async stop() {
      await started.stop();
      data.remove();
      await names.remove();
    },
  };
}

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j', 's3', 'chaos'], () => {
  describeClusterChaos({
    servers: ['mongodb', 'nats', 'elasticsearch', 'neo4j', 's3'],
    faultMs: 5_000,
    datasets: ['one'],
    pauseMs: 200,
    isSideBySide: true,
    start: startOne,
    timeoutMs: 480_000,
  });
});

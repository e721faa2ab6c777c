import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  connectMongodb,
  type MongodbConnection,
} from '../../../services/common/storage/documents/mongodb/connection.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { type DocumentStore, insert } from '../../../services/common/storage/ports/document-store.ts';
import { allThings, newDataset, numberedThings, tenantThings } from '../../conformance/document-store-subject.ts';
import { until } from '../../support/until.ts';
import { withBackend } from '../backend.ts';

/** Long enough for a busy machine, short enough for a test. */
const OPERATION_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_MS = 3000;

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  withBackend('chaos', ({ ENGRAM_TEST_CHAOS_URL: control }) => {
    describe('MongoDB behind a broken connection', () => {
      const name = `mongodb-${randomUUID().slice(0, 8)}`;
      const database = `engram_test_${randomUUID().slice(0, 8)}`;
      let connection: MongodbConnection;
      let store: DocumentStore;
      const ask = async (path: string, method: string, body?: object): Promise<{ readonly listen?: string }> => {
        const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
        const answer = await fetch(`${control}${path}`, init);
        expect(answer.ok, `${method} ${path}: ${answer.status}`).to.equal(true);
        return answer.status === 204 ? {} : ((await answer.json()) as { listen?: string });
      };
      before(async () => {
        const upstream = new URL(url).host;
        const { listen } = await ask('/proxies', 'POST', { name, listen: '127.0.0.1:0', upstream, enabled: true });
        connection = await connectMongodb({
          url: `mongodb://${listen}/?directConnection=true`,
          database,
          connectTimeoutMs: CONNECT_TIMEOUT_MS,
          operationTimeoutMs: OPERATION_TIMEOUT_MS,
        });
        store = createMongodbDocumentStore(connection);
        await store.prepare(allThings);
      });
      after(async () => {
        await connection.close();
        await ask(`/proxies/${name}`, 'DELETE');
        const direct = await connectMongodb({ url, database });
        await direct.client.db(database).dropDatabase();
        await direct.close();
      });

      /** Commits and reads for a while, during which `disturb` does its work. */
      const load = async (disturb: (hasFailed: () => boolean) => Promise<void>) => {
        const scope = newDataset();
        const acknowledged: string[] = [];
        const errors: { readonly name: string; readonly retryable: boolean; readonly tookMs: number }[] = [];
        let isOver = false;
        const worker = async () => {
          while (!isOver) {
            const id = randomUUID();
            const startedAt = performance.now();
            try {
              await store.commit(scope, [insert(tenantThings, id, {}), insert(numberedThings, id, {})]);
              acknowledged.push(id);
              await store.get(scope, tenantThings, id);
            } catch (error) {
              const { name: kind, retryable } = error as { name: string; retryable: boolean };
              errors.push({ name: kind, retryable, tookMs: performance.now() - startedAt });
              await sleep(20);
            }
          }
        };
        const workers = Promise.all(Array.from({ length: 4 }, worker));
        await sleep(200);
        await disturb(() => errors.length > 0);
        const count = acknowledged.length;
        for (const giveUpAt = performance.now() + 30_000; acknowledged.length < count + 10; await sleep(20)) {
          expect(performance.now(), 'recovers by itself').to.be.lessThan(giveUpAt);
        }
        isOver = true;
        await workers;
        return { scope, acknowledged, errors };
      };
      const expectNothingLost = async ({ scope, acknowledged }: Awaited<ReturnType<typeof load>>) => {
        for (const collection of [tenantThings, numberedThings]) {
          expect(await store.getMany(scope, collection, acknowledged)).to.have.length(acknowledged.length);
        }
      };

      it('says so within its time, loses nothing, and goes on by itself when it was cut', async () => {
        const outcome = await load(async (hasFailed) => {
          await ask(`/proxies/${name}`, 'POST', { enabled: false });
          await until('somebody is told', hasFailed);
          await ask(`/proxies/${name}`, 'POST', { enabled: true });
        });
        expect(outcome.errors.length).to.be.greaterThan(0);
        for (const { name: kind, retryable, tookMs } of outcome.errors) {
          expect([kind, retryable]).to.deep.equal(['ServiceUnavailableError', true]);
          expect(tookMs).to.be.lessThan(5 * (CONNECT_TIMEOUT_MS + OPERATION_TIMEOUT_MS));
        }
        await expectNothingLost(outcome);
      });

      it('says so within its time, loses nothing, and goes on by itself when nothing comes back', async () => {
        const outcome = await load(async () => {
          const toxic = { name: 'hang', type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } };
          await ask(`/proxies/${name}/toxics`, 'POST', toxic);
          await sleep(5000);
          await ask(`/proxies/${name}/toxics/hang`, 'DELETE');
        });
        for (const { name: kind, retryable, tookMs } of outcome.errors) {
          expect(kind).to.be.oneOf(['ServiceUnavailableError', 'DeadlineExceededError']);
          expect(retryable).to.equal(true);
          expect(tookMs).to.be.lessThan(5 * (CONNECT_TIMEOUT_MS + OPERATION_TIMEOUT_MS));
        }
        await expectNothingLost(outcome);
      });
    });
  });
});

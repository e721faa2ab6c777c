import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { EngramError } from '../../../services/common/kernel/errors.ts';
import { openNeo4jGraphStore } from '../../../services/common/storage/graph/neo4j/neo4j-graph-store.ts';
import { checkVersion } from '../../../services/common/storage/graph/neo4j/schema.ts';
import { createScopes, edge, node } from '../../support/dataset-rows.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { connectionTo, openTestGraphStore } from './test-graph-store.ts';

withBackend('neo4j', (address) => {
  describe('Neo4j that fails', () => {
    const connection = connectionTo(address);
    const scopes = createScopes();
    const servers: Server[] = [];
    after(() => servers.forEach((server) => void server.close()));

    it('with wrong credentials: says so, without the password, and needs no second try', async () => {
      const error = (await rejection(
        openNeo4jGraphStore({ ...connection, user: 'nobody', password: 'hunter2' }),
      )) as EngramError;
      expect([error.name, error.retryable]).to.deep.equal(['ServiceUnavailableError', false]);
      expect(error.message).to.contain(connection.url).and.to.contain('credentials').and.to.contain('"nobody"');
      expect(error.message).not.to.contain('hunter2');
    });

    it('by not being there: retryable, with the address, in time', async () => {
      const options = { ...connection, url: 'bolt://someone:hunter2@127.0.0.1:1', connectTimeoutMs: 500, retryMs: 500 };
      const started = Date.now();
      const error = (await rejection(openNeo4jGraphStore({ ...options, callTimeoutMs: 5000 }))) as EngramError;
      expect(Date.now() - started).to.be.lessThan(20_000);
      expect([error.name, error.retryable]).to.deep.equal(['ServiceUnavailableError', true]);
      expect(error.message).to.contain('bolt://127.0.0.1:1').and.not.to.contain('hunter2');
    });

    it('by accepting and never answering: gives up in time, and its pool is not used up', async () => {
      const silent = createServer(() => undefined).listen(0, '127.0.0.1');
      servers.push(silent);
      await once(silent, 'listening');
      const { port } = silent.address() as { port: number };
      const url = `bolt://127.0.0.1:${port}`;
      const started = Date.now();
      const error = (await rejection(
        openNeo4jGraphStore({ ...connection, url, connectTimeoutMs: 1000, retryMs: 500, callTimeoutMs: 3000 }),
      )) as EngramError;
      expect(Date.now() - started).to.be.lessThan(20_000);
      expect(error.name).to.be.oneOf(['ServiceUnavailableError', 'DeadlineExceededError']);
      expect(error.retryable).to.equal(true);
    });

    it('in mid-work: calls end in time, and work again when the server does, without a restart', async () => {
      const proxy = await openProxy(connection.url);
      servers.push(proxy.server);
      const limits = { connectTimeoutMs: 1000, retryMs: 500, callTimeoutMs: 2000, poolSize: 5 };
      const store = await openTestGraphStore(address, { url: proxy.url, ...limits });
      const scope = scopes();
      await store.graph.upsert(scope, { nodes: [node('a')], edges: [] });
      for (const fault of ['hang', 'cut'] as const) {
        proxy[fault]();
        const started = Date.now();
        const errors = (await Promise.all(
          Array.from({ length: 12 }, () => rejection(store.graph.nodes(scope, ['a']))),
        )) as EngramError[];
        expect(Date.now() - started, fault).to.be.lessThan(20_000);
        for (const { name, retryable } of errors) {
          expect(name).to.be.oneOf(['ServiceUnavailableError', 'DeadlineExceededError']);
          expect(retryable).to.equal(true);
        }
        proxy.heal();
        for (let attempt = 0; ; attempt++) {
          const found = await store.graph.nodes(scope, ['a']).catch((error: EngramError) => error);
          if (Array.isArray(found)) break;
          expect(attempt, `${fault}: not back`).to.be.lessThan(20);
        }
        const all = await Promise.all(Array.from({ length: 12 }, () => store.graph.nodes(scope, ['a'])));
        expect(all.every((rows) => rows.length === 1)).to.equal(true);
      }
      await store.close();
    });

    it('by being too old', () => {
      for (const version of ['4.4.30', '5.25.1', '3.5']) {
        expect(() => checkVersion(version, 'bolt://x'), version).to.throw(`${version}; 5.26 or newer is needed`);
      }
      for (const version of ['5.26.0', '5.26.30', '2026.08.1']) checkVersion(version, 'bolt://x');
    });

    it('by deadlock: repeats the loser, so that all writers succeed', async () => {
      const store = await openTestGraphStore(address);
      const scope = scopes();
      const ids = Array.from({ length: 40 }, (_, index) => `n${index}`);
      await Promise.all(
        Array.from({ length: 12 }, (_, generation) =>
          store.graph.upsert(scope, {
            nodes: (generation % 2 ? ids : ids.toReversed()).map((id) => node(id, { generation: 1 })),
            edges: [edge('n1', 'n2', { generation })],
          }),
        ),
      );
      expect(await store.graph.count(scope)).to.deep.equal({ nodes: 40, edges: 1, nodeRows: 40, edgeRows: 12 });
      await store.close();
    });

    it('after close: rejects', async () => {
      const graph = await openNeo4jGraphStore(connection);
      await graph.close();
      await graph.close();
      expect(await rejection(graph.nodes(scopes(), ['x']))).to.be.instanceOf(Error);
    });
  });
});

/** A TCP proxy whose connections can fall silent (those that are open for ever) or be cut. */
async function openProxy(target: string) {
  const { hostname, port } = new URL(target);
  let isHanging = false;
  let isCut = false;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => void (isHanging || hung.has(client) || to.write(data)));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
    open.add(client);
    client.on('close', () => open.delete(client));
  }).listen(0, '127.0.0.1');
  const hung = new Set<Socket>();
  await once(server, 'listening');
  return {
    server,
    url: `bolt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hang() {
      isHanging = true;
    },
    cut() {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    heal() {
      // What has hung stays dead, as behind a firewall that forgot it.
      if (isHanging) for (const socket of open) hung.add(socket);
      isHanging = false;
      isCut = false;
    },
  };
}

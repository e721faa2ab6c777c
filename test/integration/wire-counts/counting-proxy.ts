import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export type CountedStore = 'mongodb' | 'elasticsearch' | 'neo4j' | 'nats';

/** One request that a client sent to a server. */
export interface Exchange {
  readonly store: CountedStore;
  /** What was asked, without what differs between equal requests: `find chunks`, `POST _search`. */
  readonly name: string;
  /** Milliseconds of `performance.now()`. */
  readonly sentAt: number;
  /** The first bytes that came back on the connection afterwards; null while there are none. */
  answeredAt: number | null;
}

/** Reads what one connection sends to the server, in pieces of any size; returns the names of the requests that begin. */
export type RequestReader = (piece: Buffer) => readonly string[];

export interface CountingProxy {
  readonly port: number;
  close(): Promise<void>;
}

interface CountingProxyOptions {
  readonly store: CountedStore;
  readonly upstream: { readonly host: string; readonly port: number };
  /** One reader for each connection. */
  readonly createReader: () => RequestReader;
  readonly onRequest: (exchange: Exchange) => void;
}

/** Hands every byte on as it comes, and tells which requests were among them. */
export async function startCountingProxy(options: CountingProxyOptions): Promise<CountingProxy> {
  const { store, upstream, createReader, onRequest } = options;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ ...upstream, noDelay: true });
    const read = createReader();
    let unanswered: Exchange[] = [];
    client.on('data', (piece) => {
      for (const name of read(piece)) {
        const exchange: Exchange = { store, name, sentAt: performance.now(), answeredAt: null };
        unanswered.push(exchange);
        onRequest(exchange);
      }
    });
    target.on('data', () => {
      const answeredAt = performance.now();
      for (const exchange of unanswered) exchange.answeredAt = answeredAt;
      unanswered = [];
    });
    client.pipe(target).pipe(client);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('error', () => target.destroy());
    target.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

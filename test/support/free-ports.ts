import { createServer } from 'node:net';

/** Above those of the test servers, below those that the system gives to outgoing connections. */
const PORTS = { first: 20_000, last: 32_000 };

/** The first of `count` ports in a row that nobody listens at. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first - count));
    const isFree = await Promise.all(Array.from({ length: count }, (_, at) => isPortFree(first + at)));
    if (isFree.every(Boolean)) return first;
  }
}

function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

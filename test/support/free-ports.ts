import { createServer } from 'node:net';

/** Above those of the test servers, below those that the system gives to outgoing connections. */
const FIRST = 20_000;
/** Ports of one process: processes of mocha that run side by side, numbered from 0, give out different ones. */
const COUNT = 3_000;
const WORKER = Number(process.env['MOCHA_WORKER_ID'] ?? 0) % 4;
let next = Math.floor(Math.random() * COUNT);

/** Returns the first of `count` ports in a row at which no process listens. Gives each out once, until all were. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    if (next + count > COUNT) next = 0;
    const first = FIRST + WORKER * COUNT + next;
    next += count;
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

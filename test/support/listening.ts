import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port of loopback; returns the address. */
export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ends all connections, and waits for the end of the server. */
export async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

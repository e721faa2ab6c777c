import { Agent, request } from 'node:http';

/** A lean client, so that the measured time is the server's. One per worker; keeps its connections. */
export interface BenchClient {
  post(path: string, body: unknown): Promise<unknown>;
  get(path: string): Promise<unknown>;
}

export function createClient(baseUrl: string): BenchClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const send = (method: string, path: string, body?: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers =
        payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length };
      const outgoing = request(baseUrl + path, { method, agent, headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString();
          if (response.statusCode === undefined || response.statusCode >= 300) {
            reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`));
          } else resolve(text === '' ? null : JSON.parse(text));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  return { post: (path, body) => send('POST', path, body), get: (path) => send('GET', path) };
}

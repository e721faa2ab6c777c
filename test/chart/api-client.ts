import { Agent, request } from 'node:http';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The API as it is reached through the cluster's ingress: at its address, by a host name. */
export interface ApiClient {
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The answer's JSON. Throws for a status other than 2xx. */
  json<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Signs in; later calls carry the token. */
  signIn(email: string, password: string): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 60_000;

/** Keeps its connections, as clients do. */
export function apiClient(host: string, credentials: { readonly apiKey?: string } = {}): ApiClient {
  const address = process.env['ENGRAM_TEST_INGRESS'] ?? '';
  const agent = new Agent({ keepAlive: true });
  const { apiKey } = credentials;
  let token: string | null = null;

  function send(method: string, path: string, type: string | null, text: string | null): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        host,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...(type === null ? {} : { 'content-type': type }),
        ...(text === null ? {} : { 'content-length': Buffer.byteLength(text) }),
      };
      const outgoing = request({ host: address, port: 80, method, path, headers, agent, timeout: TIMEOUT_MS });
      outgoing.once('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer`)));
      outgoing.once('error', reject);
      outgoing.once('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => void parts.push(part));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
        );
      });
      outgoing.end(text ?? undefined);
    });
  }
  const call: ApiClient['call'] = (method, path, body) =>
    send(
      method,
      path,
      body === undefined ? null : 'application/json',
      body === undefined ? null : JSON.stringify(body),
    );

  return {
    call,
    async json<T>(method: string, path: string, body?: unknown) {
      const { status, text } = await call(method, path, body);
      if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
      return JSON.parse(text) as T;
    },
    async signIn(email, password) {
      const form = new URLSearchParams({ username: email, password }).toString();
      const { status, text } = await send('POST', '/api/v1/auth/login', 'application/x-www-form-urlencoded', form);
      if (status !== 200) throw new Error(`Signing in: ${status} ${text.slice(0, 500)}`);
      token = (JSON.parse(text) as { access_token: string }).access_token;
    },
    close: () => agent.destroy(),
  };
}

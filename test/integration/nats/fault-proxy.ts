import { randomUUID } from 'node:crypto';

/** A proxy of one test before a shared server (toxiproxy), to lose the connection without stopping the server. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections end, new ones are refused. */
  cut(): Promise<void>;
  /** Connections stay open and nothing passes. */
  hang(): Promise<void>;
  /** What is asked and what is answered take so much longer together. */
  slow(roundTripMs: number): Promise<void>;
  heal(): Promise<void>;
}

export async function faultProxy(control: string, upstream: string): Promise<FaultProxy> {
  const name = randomUUID();
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { 'user-agent': 'engram-tests' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${control}${path}`, { method, headers, ...init });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const proxy = (await call('POST', '/proxies', { name, listen: '127.0.0.1:0', upstream, enabled: true })) as {
    listen: string;
  };
  const toxics: string[] = [];
  const poison = async (type: 'timeout' | 'latency', attributes: object): Promise<void> => {
    for (const stream of ['upstream', 'downstream']) {
      const toxic = `${type}-${stream}`;
      await call('POST', `/proxies/${name}/toxics`, { name: toxic, type, stream, attributes });
      toxics.push(toxic);
    }
  };
  return {
    port: Number(proxy.listen.split(':').at(-1)),
    async cut() {
      await call('POST', `/proxies/${name}`, { enabled: false });
    },
    hang: () => poison('timeout', { timeout: 0 }),
    slow: (roundTripMs) => poison('latency', { latency: Math.round(roundTripMs / 2) }),
    async heal() {
      for (const toxic of toxics.splice(0)) await call('DELETE', `/proxies/${name}/toxics/${toxic}`);
      await call('POST', `/proxies/${name}`, { enabled: true });
    },
    async [Symbol.asyncDispose]() {
      await call('DELETE', `/proxies/${name}`);
    },
  };
}

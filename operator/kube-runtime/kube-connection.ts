import { readFile } from 'node:fs/promises';
import type { Agent, RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { MonotonicClock } from '../../services/common/ports/system.ts';

/** Address of the API server and credentials. Read for each request, because tokens and certificates rotate. */
export interface KubeConnection {
  /** `https://10.96.0.1:443`, optionally with a path prefix. */
  readonly server: URL;
  credentials(): Promise<KubeCredentials>;
}

export interface KubeCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** Set when a proxy is used. */
  readonly agent?: Agent;
}

interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet renews a token long before it expires, so it may be read up to a minute late. */
const TOKEN_AGE_MS = 60_000;

/**
 * Connects as a pod with a service account. Does not use the client library, which needs 87 MB of memory for its models.
 */
export function inClusterConnection(place: {
  readonly host: string;
  readonly port: string;
  readonly folder?: string;
  readonly clock?: MonotonicClock;
}): KubeConnection {
  const folder = place.folder ?? SERVICE_ACCOUNT;
  const host = place.host.includes(':') ? `[${place.host}]` : place.host;
  let held: { readonly at: number; readonly credentials: KubeCredentials } | undefined;
  return {
    server: new URL(`https://${host}:${place.port}`),
    async credentials() {
      const now = (place.clock ?? performanceClock).monotonicMs();
      if (held !== undefined && now - held.at < TOKEN_AGE_MS) return held.credentials;
      const [token, ca] = await Promise.all([
        readFile(join(folder, 'token'), 'utf8'),
        readFile(join(folder, 'ca.crt'), 'utf8'),
      ]);
      held = { at: now, credentials: { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } } };
      return held.credentials;
    },
  };
}

const performanceClock: MonotonicClock = { monotonicMs: () => performance.now() };

/** Connects by the current context of a kubeconfig file, with any authentication that the client library supports. */
export async function kubeconfigConnection(file: string): Promise<KubeConnection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(file);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`The kubeconfig ${file} names no current cluster.`);
  const proxied = cluster.proxyUrl !== undefined;
  return {
    server: new URL(cluster.server),
    async credentials() {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const { ca, cert, key, rejectUnauthorized, servername, headers = {}, auth, agent } = options;
      const basic = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
      return {
        headers: { ...(headers as Record<string, string>), ...basic },
        tls: defined({ ca, cert, key, rejectUnauthorized, servername }) as TlsMaterial,
        ...(proxied ? { agent: agent as Agent } : {}),
      };
    },
  };
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

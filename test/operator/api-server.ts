import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** A real API server by plain requests, for tests of its validation. */
export interface ApiServer {
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Creates a namespace for one suite; `removeNamespaces` deletes it. */
  newNamespace(labels?: Readonly<Record<string, string>>): Promise<string>;
  removeNamespaces(): Promise<void>;
  /** Defines the kinds of `crds/`, and those of the Gateway API where no node brought them; waits until they are served. They stay. */
  applyCrds(): Promise<void>;
}

const MANAGER = 'engram-tests';

/** Of `ENGRAM_TEST_KUBECONFIG`. */
export function connectToApiServer(kubeconfig: string): ApiServer {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const server = new URL(config.getCurrentCluster()?.server ?? '');
  const namespaces: string[] = [];

  const api: ApiServer = {
    async send(method, path, body, headers = {}) {
      const options: RequestOptions = { method, headers: { accept: 'application/json', ...headers } };
      await config.applyToHTTPSOptions(options);
      if (body !== undefined) options.headers = { 'content-type': 'application/json', ...options.headers };
      return exchange(new URL(path, server), options, body);
    },
    async newNamespace(labels = {}) {
      const name = `crd-${randomBytes(5).toString('hex')}`;
      const { status, body } = await api.send('POST', '/api/v1/namespaces', { metadata: { name, labels } });
      if (status !== 201) throw new Error(`Namespace ${name}: ${JSON.stringify(body)}`);
      namespaces.push(name);
      return name;
    },
    async removeNamespaces() {
      await Promise.all(namespaces.splice(0).map((name) => api.send('DELETE', `/api/v1/namespaces/${name}`)));
    },
    async applyCrds() {
      const files = readdirSync(CRDS).filter((name) => name.endsWith('.yaml'));
      await define(files.flatMap((file) => documentsOf(`${CRDS}${file}`)));
      const { status } = await api.send('GET', '/apis/gateway.networking.k8s.io/v1');
      if (status === 200) return;
      const gatewayApi = process.env['ENGRAM_TEST_GATEWAY_API'];
      if (gatewayApi === undefined) throw new Error('No Gateway API here, and ENGRAM_TEST_GATEWAY_API is not set.');
      await define(documentsOf(gatewayApi));
    },
  };

  /** Definitions first, then waiting: the server takes its time for each. */
  async function define(objects: readonly Json[]): Promise<void> {
    const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    const paths = definitions.map(({ metadata }) => `${DEFINITIONS}/${(metadata as { name: string }).name}`);
    for (const [index, path] of paths.entries()) {
      const { status, body } = await api.send(
        'PATCH',
        `${path}?fieldManager=${MANAGER}&force=true`,
        definitions[index],
        { 'content-type': 'application/apply-patch+yaml' },
      );
      if (status > 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
    }
    for (const path of paths) await served(api, path);
  }

  return api;
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const CRDS = fileURLToPath(new URL('../../crds/', import.meta.url));

export function documentsOf(path: string): Json[] {
  return parseAllDocuments(readFileSync(path, 'utf8'))
    .map((document) => document.toJS() as Json | null)
    .filter((object) => object !== null);
}

async function served(api: ApiServer, path: string): Promise<void> {
  for (;;) {
    const { body } = await api.send('GET', path);
    const { conditions } = (body['status'] ?? {}) as { conditions?: { type: string; status: string }[] | null };
    if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function exchange(url: URL, options: RequestOptions, body: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        // A path that is not served yet is answered with plain text.
        const isJson = response.headers['content-type']?.includes('json') === true;
        resolve({ status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as Json) : { message: text } });
      });
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { inClusterConnection, type KubeConnection } from '../../operator/kube-runtime/kube-connection.ts';
import type { ApiServer, Json } from './api-server.ts';

/** Creates a service account with the operator's permissions of the chart in one namespace. */
export interface OperatorAccount {
  readonly connection: KubeConnection;
  /** Folder with `token` and `ca.crt`. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Needs `helm`, which `cluster env` puts on the path. */
export async function createOperatorAccount(
  api: ApiServer,
  place: { readonly namespace: string; readonly server: URL; readonly ca: string },
): Promise<OperatorAccount> {
  const { namespace, server, ca } = place;
  const account = `release-engram-operator`;
  const create = async (path: string, body: Json) => {
    const answer = await api.send('POST', path, body);
    if (answer.status > 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await create(accounts, { metadata: { name: account } });
  for (const object of await rules(namespace)) {
    const { kind = '', metadata = {} } = object as { readonly kind?: string; readonly metadata?: Json };
    const plural = `${kind.toLowerCase()}s`;
    const to = `/apis/rbac.authorization.k8s.io/v1/namespaces/${metadata['namespace']}/${plural}`;
    await create(to, object);
  }
  const token = await create(`${accounts}/${account}/token`, { spec: { expirationSeconds: 3600 } });
  const folder = await mkdtemp(join(tmpdir(), 'engram-operator-'));
  await writeFile(join(folder, 'token'), (token['status'] as { readonly token: string }).token);
  await writeFile(join(folder, 'ca.crt'), ca);
  return {
    folder,
    connection: inClusterConnection({ host: server.hostname, port: server.port, folder }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function rules(namespace: string): Promise<Json[]> {
  const { stdout } = await promisify(execFile)('helm', [
    ...['template', 'release', 'charts/engram', '--namespace', namespace, '--kube-version', '1.34'],
    ...['--show-only', 'templates/operator/rbac.yaml', '--set', `operator.watchNamespaces[0]=${namespace}`],
  ]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Json);
}

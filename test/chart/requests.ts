import { expect } from 'chai';
import { until } from '../support/until.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { kubectl } from './cluster.ts';
import { ADMIN, type Installation } from './installation.ts';
import { type LoadRequest, startLoad } from './load.ts';

export const TEXT = 'Ada Lovelace wrote the first program for the Analytical Engine of Charles Babbage.';

/** Of every kind. Not /health: that tells of slow stores, which are no loss. */
export const REQUESTS: readonly LoadRequest[] = [
  ['GET', '/api/v1/datasets'],
  ['POST', '/api/v1/search', { query: 'Ada', searchType: 'CHUNKS_LEXICAL', datasets: ['load'] }],
  ['GET', '/api/v1/users/me'],
  ['GET', '/api/v1/datasets/status'],
  ['POST', '/api/v1/add', { data: `${TEXT} Again.`, datasetName: 'load' }],
  ['GET', '/docs'],
];

interface SearchResult {
  readonly search_result?: unknown;
}

export async function addAndFind(client: ApiClient, dataset: string): Promise<void> {
  await client.json('POST', '/api/v1/add', { data: TEXT, datasetName: dataset });
  await client.json('POST', '/api/v1/cognify', { datasets: [dataset] });
  const query = { query: 'Who wrote the first program?', searchType: 'CHUNKS', datasets: [dataset] };
  const found = await client.json<readonly SearchResult[]>('POST', '/api/v1/search', query);
  expect(JSON.stringify(found)).to.include('Ada Lovelace');
  // Neo4j has no names of its own for this test: what is in it is forgotten here.
  await client.json('POST', '/api/v1/forget', { dataset });
}

/** `pod/rel-engram-auth-…` and so on */
export async function servicePods(namespace: string): Promise<readonly string[]> {
  const selector = 'app.kubernetes.io/component in (auth,cognify,ingest,improve,search,integrations)';
  const list = await kubectl(['get', 'pods', '--namespace', namespace, '--selector', selector, '--output', 'name']);
  return list.trim().split('\n');
}

/** An ingress hears of new routes and of ready pods within seconds; until then auth answers 404 for the other services. */
export async function untilRouted(client: ApiClient): Promise<void> {
  await eventually(async () => (await client.call('GET', '/health')).status === 200);
  for (const path of ['/api/v1/add', '/api/v1/cognify', '/api/v1/improve', '/api/v1/search']) {
    await eventually(async () => ![404, 502, 503].includes((await client.call('GET', path)).status));
  }
}

/** Waits until it holds. A request that fails counts as no. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  await until('the installation answers as expected', () => holds().catch(() => false), {
    everyMs: 200,
    limitMs: 300_000,
  });
}

/** Signs in as the administrator of an installation, once it is reachable. */
export async function signedIn({ host, password }: Installation): Promise<ApiClient> {
  const client = apiClient(host);
  await untilRouted(client);
  await client.signIn(ADMIN, await password());
  return client;
}

/** A tenant with a dataset. */
export function tenantWithNotes(tenant: object): object {
  const group = { apiVersion: 'engram.dev/v1alpha1' };
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      { ...group, kind: 'Tenant', metadata: { name: 'acme' }, spec: tenant },
      { ...group, kind: 'Dataset', metadata: { name: 'notes' }, spec: { tenantRef: { name: 'acme' } } },
    ],
  };
}

/** Upgrades an installation while it is asked: no request fails, and every pod is replaced. Leaves a dataset `load`. */
export async function upgradeUnderLoad(client: ApiClient, { namespace, apply }: Installation, values: object) {
  await client.json('POST', '/api/v1/add', { data: TEXT, datasetName: 'load' });
  await client.json('POST', '/api/v1/cognify', { datasets: ['load'] });
  const load = startLoad(() => client, REQUESTS);
  await load.answered(50);
  const before = await servicePods(namespace);
  await apply(values);
  // Every pod was replaced, and the old ones have ended with what they had in hand.
  await kubectl(['wait', '--namespace', namespace, '--for=delete', '--timeout=120s', ...before]);
  await load.answered(50);
  const { answers, failures } = await load.stop();
  expect(failures.slice(0, 20).join('\n')).to.equal('');
  expect(answers).to.be.greaterThan(100);
}

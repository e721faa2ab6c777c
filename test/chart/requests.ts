import { expect } from 'chai';
import { until } from '../support/until.ts';
import type { ApiClient } from './api-client.ts';
import { kubectl } from './cluster.ts';
import type { LoadRequest } from './load.ts';

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

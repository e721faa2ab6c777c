import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { type ApiClient, apiClient } from './api-client.ts';
import { attemptHelm, helm, kubectl, ownNamespace, withCluster } from './cluster.ts';
import { imageInCluster } from './image.ts';
import { CHART } from './programs.ts';

withCluster('nodes', 'the embedded shape in a cluster', () => {
  it('serves from one pod, and keeps its data when the pod is replaced', async function embeds() {
    this.timeout(900_000);
    const image = await imageInCluster();
    await using namespace = await ownNamespace('chart-embedded');
    const host = `${namespace.name}.test`;
    const place = ['--namespace', namespace.name];
    const values = { image, shape: 'embedded', ingress: { enabled: true, className: 'traefik', hosts: [host] } };
    await helm(['install', 'rel', CHART, ...place, '--wait', '--timeout', '240s', '--values', '-'], {
      input: JSON.stringify(values),
      timeoutMs: 300_000,
    });
    const keys = ['get', 'secret', 'rel-engram-keys', ...place, '--output'];
    const password = await kubectl([...keys, 'go-template={{.data.DEFAULT_USER_PASSWORD | base64decode}}']);
    const client = apiClient(host);
    await untilHealthy(client);
    await client.signIn('admin@example.com', password);
    await client.json('POST', '/api/v1/add', { data: 'Ada Lovelace wrote the first program.', datasetName: 'kept' });
    await client.json('POST', '/api/v1/cognify', { datasets: ['kept'] });

    await kubectl(['delete', 'pod', 'rel-engram-embedded-0', ...place, '--timeout=120s']);
    await kubectl(['wait', 'pod/rel-engram-embedded-0', ...place, '--for=condition=Ready', '--timeout=120s']);
    await untilHealthy(client);
    const query = { query: 'first program', searchType: 'CHUNKS', datasets: ['kept'] };
    expect(JSON.stringify(await client.json('POST', '/api/v1/search', query))).to.include('Ada Lovelace');
    expect(await helm(['test', 'rel', ...place, '--logs'])).to.not.include('FAILED');
    client.close();
    await attemptHelm(['uninstall', 'rel', ...place]);
  });
});

/** The test's own time limit ends it otherwise. */
async function untilHealthy(client: ApiClient): Promise<void> {
  while ((await client.call('GET', '/health').catch(() => null))?.status !== 200) await wait(200);
}

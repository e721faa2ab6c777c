import { expect } from 'chai';
import { type ApiClient, apiClient } from './api-client.ts';
import { bundledImagesInCluster } from './bundled/images.ts';
import { helm, kubectl, withCluster } from './cluster.ts';
import { ADMIN, type Installation, install, RELEASE } from './installation.ts';
import { addAndFind, signedIn, TEXT, untilRouted } from './requests.ts';

const STORES = ['mongodb', 'elasticsearch', 'neo4j', 'nats'];

withCluster('nodes', 'an installation with the stores of the chart', () => {
  if (process.env['ENGRAM_TEST_BUNDLED_STORES'] !== '1') {
    it.skip('ENGRAM_TEST_BUNDLED_STORES is not 1: it takes six minutes and 5 GB of memory');
    return;
  }
  let installation: Installation;
  let client: ApiClient;

  before(async function installs() {
    this.timeout(900_000);
    const { mongodb, elasticsearch, neo4j } = await bundledImagesInCluster();
    installation = await install({
      mongodb: { enabled: true, image: mongodb },
      externalMongodb: {},
      elasticsearch: { enabled: true, image: elasticsearch },
      externalElasticsearch: {},
      neo4j: { enabled: true, image: neo4j },
      externalNeo4j: {},
    });
    await installation.apply();
    client = await signedIn(installation);
  });
  after(async function uninstalls() {
    this.timeout(180_000);
    client?.close();
    await installation?.[Symbol.asyncDispose]();
  });

  const place = () => ['--namespace', installation.namespace];
  const storePods = STORES.map((store) => `pod/${RELEASE}-engram-${store}-0`);
  const finds = async (by: ApiClient) => {
    const query = { query: 'Who wrote the first program?', searchType: 'CHUNKS', datasets: ['kept'] };
    const graph = { query: 'Ada Lovelace', searchType: 'GRAPH_COMPLETION', datasets: ['kept'], onlyContext: true };
    expect(JSON.stringify(await by.json('POST', '/api/v1/search', query))).to.include('Ada Lovelace');
    expect(JSON.stringify(await by.json('POST', '/api/v1/search', graph))).to.include('Ada Lovelace');
  };

  it('passes helm test, and adds, cognifies and finds data', async function works() {
    this.timeout(180_000);
    expect(await helm(['test', RELEASE, ...place(), '--logs'])).to.not.include('FAILED');
    await addAndFind(client, 'first');
    await client.json('POST', '/api/v1/add', { data: TEXT, datasetName: 'kept' });
    await client.json('POST', '/api/v1/cognify', { datasets: ['kept'] });
    await finds(client);
  });

  it('recovers with its data when every store is replaced', async function restarts() {
    this.timeout(900_000);
    const uids = ['get', ...storePods, ...place(), '--output', 'jsonpath={.items[*].metadata.uid}'];
    const before = (await kubectl(uids)).split(' ');
    await kubectl(['delete', ...storePods, ...place(), '--timeout=180s'], { timeoutMs: 240_000 });
    await kubectl(['wait', '--for=create', ...storePods, ...place(), '--timeout=60s']);
    await kubectl(['wait', '--for=condition=Ready', ...storePods, ...place(), '--timeout=600s'], {
      timeoutMs: 660_000,
    });
    expect((await kubectl(uids)).split(' ').filter((uid) => before.includes(uid))).to.deep.equal([]);
    await untilRouted(client);
    await finds(client);
  });

  it('keeps passwords and data over uninstall and install', async function returns() {
    this.timeout(900_000);
    await helm(['uninstall', RELEASE, ...place(), '--wait', '--timeout', '180s'], { timeoutMs: 240_000 });
    await installation.apply();
    const again = apiClient(installation.host);
    await untilRouted(again);
    await again.signIn(ADMIN, await installation.password());
    await finds(again);
    again.close();
  });

  it('runs restricted by Pod Security without a restart', async () => {
    const pods = await kubectl(['get', 'pods', ...place(), '--output', 'json']);
    const { items } = JSON.parse(pods) as { items: readonly Pod[] };
    const restarts = items.flatMap(({ metadata, status }) =>
      (status.containerStatuses ?? []).filter((one) => one.restartCount > 0).map(() => metadata.name),
    );
    expect(restarts).to.deep.equal([]);
    const label = 'jsonpath={.metadata.labels.pod-security\\.kubernetes\\.io/enforce}';
    expect(await kubectl(['get', 'namespace', installation.namespace, '--output', label])).to.equal('restricted');
  });
});

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
}

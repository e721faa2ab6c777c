import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ApiClient } from './api-client.ts';
import { kubectl, withCluster } from './cluster.ts';
import { buildInCluster, givenImage, type Image, imageInCluster } from './image.ts';
import { type Installation, install } from './installation.ts';
import { addAndFind, eventually, signedIn, upgradeUnderLoad } from './requests.ts';

const previous = process.env['ENGRAM_TEST_PREVIOUS'];

withCluster('nodes', 'an upgrade from an earlier release', () => {
  if (previous === undefined) {
    it.skip('ENGRAM_TEST_PREVIOUS is not set: the commit or tag of that release');
    return;
  }
  let folder: string;
  let image: Image;
  let installation: Installation;
  let client: ApiClient;

  before(async function installs() {
    this.timeout(1_200_000);
    folder = await mkdtemp(join(tmpdir(), 'engram-previous-'));
    await promisify(execFile)('bash', [
      '-euo',
      'pipefail',
      '-c',
      `git archive "$0" | tar -x -C "$1"`,
      previous,
      folder,
    ]);
    image = await imageInCluster();
    const former = givenImage('ENGRAM_TEST_PREVIOUS_IMAGE') ?? (await buildInCluster('engram/engram:previous', folder));
    // The chart's own NATS starts again when its users' permissions change: a single server is away for seconds then.
    installation = await install({ image: former }, { ownNats: false });
    await installation.apply({}, join(folder, 'charts/engram'));
    client = await signedIn(installation);
  });
  after(async function uninstalls() {
    this.timeout(120_000);
    client?.close();
    await installation?.[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it('loses no request during an upgrade, and keeps tenants, data and sessions', async function upgrades() {
    this.timeout(600_000);
    const place = ['--namespace', installation.namespace];
    const tenant = {
      apiVersion: 'engram.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'acme' },
      spec: { owner: { email: 'owner@acme.example.com' }, apiKeys: [{ name: 'default', secretName: 'acme-key' }] },
    };
    await kubectl(['create', ...place, '--filename', '-'], { input: JSON.stringify(tenant) });
    await kubectl(['wait', 'tenant/acme', ...place, '--for=condition=Ready', '--timeout=120s']);
    const key = ['get', 'secret', 'acme-key', ...place, '--output', 'jsonpath={.data.apiKey}'];
    const issued = await kubectl(key);
    await upgradeUnderLoad(client, installation, { image });
    await kubectl(['annotate', 'tenant', 'acme', ...place, 'engram.dev/reconcile-at=after']);
    const generation = ['get', 'tenant', 'acme', ...place, '--output', 'jsonpath={.status.lastHandledReconcileAt}'];
    await eventually(async () => (await kubectl(generation)) === 'after');
    await kubectl(['wait', 'tenant/acme', ...place, '--for=condition=Ready', '--timeout=60s']);
    expect(await kubectl(key)).to.equal(issued);
    await addAndFind(client, 'after');
    await client.json('POST', '/api/v1/forget', { dataset: 'load' });
  });
});

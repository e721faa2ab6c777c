import { expect } from 'chai';
import { createFakeClock } from '../test/support/kube/fake-clock.ts';
import { completeSpec } from '../test/support/kube/tenant-world.ts';
import type { Dataset } from './api/dataset.ts';
import type { Tenant } from './api/tenant.ts';
import { type ControllerParts, controllerOptions, credentialsOf, secretsOf } from './controllers.ts';
import { createWorkQueue } from './kube-runtime/work-queue.ts';

describe('controllers of both kinds', () => {
  it('retry a failed key at least every half minute, however long it has failed', async () => {
    const clock = createFakeClock();
    const parts = { options: { workers: 1 }, frame: { clock } } as unknown as ControllerParts;
    const queue = createWorkQueue({ clock, ...controllerOptions(parts).queue });
    for (let tries = 0; tries < 3_000; tries += 1) {
      queue.retry('memory/acme');
      await clock.advance(30_000);
      expect(queue.depth, `after ${tries} tries`).to.equal(1);
      queue.done((await queue.next()) ?? '');
    }
    await queue.stop();
  });
});

describe('watched Secrets of a Tenant', () => {
  it('includes all Secrets of the spec except those that the operator made', () => {
    const spec = completeSpec({
      owner: { email: 'a@example.com', passwordSecretRef: { name: 'owner', key: 'password' } },
      apiKeys: [
        { name: 'mine', secretName: 'mine' },
        { name: 'made', secretName: 'made' },
      ],
      llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'llm', key: 'apiKey' } },
      embedding: {
        provider: 'openai',
        model: 'e',
        dimensions: 8,
        apiKeySecretRef: { name: 'embedding', key: 'apiKey' },
      },
      backup: { schedule: '0 3 * * *', keep: 14, destinationRef: { name: 'bucket' } },
    });
    const tenant = {
      metadata: { name: 'acme', namespace: 'memory' },
      spec,
      status: { observedGeneration: 1 },
    } as unknown as Tenant;
    const own = { get: (key: string) => (key === 'memory/made' ? { metadata: { name: 'made' } } : undefined) };
    const names = secretsOf(tenant, own as Parameters<typeof secretsOf>[1]).map(({ name }) => name);
    expect(names.toSorted()).to.deep.equal(['bucket', 'embedding', 'llm', 'mine', 'owner']);
  });
});

describe('watched Secrets of a Dataset', () => {
  it('are those of its sources, each once, until it is deleted', () => {
    const source = (name: string, secret?: string) => ({
      name,
      connector: 'github',
      onRemoval: 'Keep',
      ...(secret === undefined ? { address: 'a' } : { credentialsSecretRef: { name: secret } }),
    });
    const sources = [source('code', 'github'), source('wiki', 'github'), source('site'), source('files', 'login')];
    const dataset = (more: object) =>
      ({ metadata: { name: 'notes', namespace: 'memory', ...more }, spec: { sources } }) as unknown as Dataset;
    expect(credentialsOf(dataset({}))).to.deep.equal([
      { name: 'github', namespace: 'memory' },
      { name: 'login', namespace: 'memory' },
    ]);
    expect(credentialsOf(dataset({ deletionTimestamp: '2026-01-01T00:00:00Z' }))).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { completeSpec } from '../test/support/kube/tenant-world.ts';
import type { Tenant } from './api/tenant.ts';
import { secretsOf } from './references.ts';

describe('Secrets of a Tenant that are watched', () => {
  it('are all that its spec names, but for those of the operator', () => {
    const spec = completeSpec({
      owner: { email: 'a@example.com', passwordSecretRef: { name: 'owner', key: 'password' } },
      apiKeys: [
        { name: 'mine', secretName: 'mine' },
        { name: 'made', secretName: 'made' },
      ],
      llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'llm', key: 'apiKey' } },
      embedding: {
        ...{ provider: 'openai', model: 'e', dimensions: 8 },
        apiKeySecretRef: { name: 'embedding', key: 'apiKey' },
      },
      backup: { schedule: '0 3 * * *', keep: 14, destinationRef: { name: 'bucket' } },
    });
    const tenant = {
      metadata: { name: 'acme', namespace: 'memory' },
      ...{ spec, status: { observedGeneration: 1 } },
    } as unknown as Tenant;
    const own = { get: (key: string) => (key === 'memory/made' ? { metadata: { name: 'made' } } : undefined) };
    const names = secretsOf(tenant, own as Parameters<typeof secretsOf>[1]).map(({ name }) => name);
    expect(names.toSorted()).to.deep.equal(['bucket', 'embedding', 'llm', 'mine', 'owner']);
  });
});

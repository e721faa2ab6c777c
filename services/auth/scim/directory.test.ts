import { expect } from 'chai';
import { startAuth } from '../../../test/support/auth-service.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { tenantsCollection } from '../../common/records/auth/tenants.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';

describe('SCIM', () => {
  it('reports a store that is unavailable as such, and not as a missing capability', async () => {
    const unavailable = engramError('ServiceUnavailableError', 'The store is away.', { retryable: true });
    const memory = createMemoryDocumentStore();
    const get: DocumentStore['get'] = (scope, collection, id) =>
      collection.name === tenantsCollection.name ? Promise.reject(unavailable) : memory.get(scope, collection, id);
    await using auth = await startAuth({ store: { ...memory, get } });
    const principal = await auth.addUser();
    const refused = await auth.call('GET', '/scim/v2/Users', { principal }).catch((error: unknown) => error);
    expect(refused).to.equal(unavailable);
  });
});

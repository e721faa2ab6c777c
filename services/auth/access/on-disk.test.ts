import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import { openSqliteDocumentStore } from '../../common/storage/documents/sqlite/document-store.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';

const ADA = { email: 'ada@example.com', password: 'correct horse' };
const LOGIN = { body: { username: ADA.email, password: ADA.password } };

describe('the auth service on SQLite', () => {
  let folder: string;
  let store: DocumentStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-auth-'));
    store = await openSqliteDocumentStore({ file: join(folder, 'control.db'), autoMigrate: true });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('keeps accounts, tokens, keys and datasets across a restart', async () => {
    const first = await startAuth({ store });
    await first.call('POST', '/api/v1/auth/register', { body: ADA });
    const { access_token: value } = (await first.call('POST', '/api/v1/auth/login', LOGIN)).json as {
      access_token: string;
    };
    const principal = await first.authenticate({ kind: 'bearer', value });
    if (principal === null) throw new Error('not authenticated');
    const made = await first.call('POST', '/api/v1/auth/api-keys', { principal, body: {} });
    const { key, id } = made.json as { readonly key: string; readonly id: string };
    const { dataset } = await first.messenger.call('auth.CreateDataset', { name: 'notes' }, { ...CALL, principal });
    await first[Symbol.asyncDispose]();
    await store.close();

    store = await openSqliteDocumentStore({ file: join(folder, 'control.db'), autoMigrate: true });
    await using second = await startAuth({ store });
    expect(await second.authenticate({ kind: 'bearer', value })).to.deep.equal(principal);
    expect(await second.authenticate({ kind: 'api-key', value: key })).to.deep.equal({
      ...principal,
      key: { id, permissions: null, datasets: null },
    });
    const request = { permission: 'delete' as const };
    const context = { ...CALL, principal };
    expect((await second.messenger.call('auth.ResolveDatasets', request, context)).datasets).to.deep.equal([dataset]);
  });
});

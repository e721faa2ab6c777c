import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as openRequest } from 'node:http';
import { expect } from 'chai';
import { apiKeyHash, newApiKeyText } from '../../services/auth/credentials/api-key-text.ts';
import { logIn } from '../support/accounts.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';

const CALL = { requestId: 'test' };

describe('an upload in progress', () => {
  let app: ManagedApp;
  before(async () => {
    app = await startManagedApp({ JWT_LIFETIME_SECONDS: '2' });
  });
  after(() => app?.stop());

  const declared = () => ({
    crUid: randomUUID(),
    displayName: 'Acme',
    hostNames: [],
    state: 'Active' as const,
    ownerEmail: `${randomUUID()}@acme.example.com`,
    ownerPassword: 'a long one for once',
  });
  /** Is let in, then sends bytes now and then until it is answered; how. */
  const upload = async (credential: Record<string, string>): Promise<{ readonly status: Promise<number> }> => {
    const { port, hostname: host } = new URL(app.baseUrl);
    const headers = {
      'content-type': 'multipart/form-data; boundary=x',
      'transfer-encoding': 'chunked',
      expect: '100-continue',
      ...credential,
    };
    const request = openRequest({ port, host, method: 'POST', path: '/api/v1/add', headers });
    let timer: NodeJS.Timeout | undefined;
    const status = new Promise<number>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    }).finally(() => {
      clearInterval(timer);
      request.destroy();
    });
    // A body is asked for only of who was let in.
    await Promise.race([
      once(request, 'continue'),
      status.then((code) => Promise.reject(new Error(`refused: ${code}`))),
    ]);
    request.write('--x\r\ncontent-disposition: form-data; name="data"; filename="a.txt"\r\n\r\n');
    timer = setInterval(() => request.write('word '), 50);
    return { status };
  };

  it('ends when its key is revoked, and when its tenant is disabled', async () => {
    const answerAfter = async (end: 'revoked' | 'disabled') => {
      const tenant = declared();
      const { tenantId } = await app.messenger.call('auth.EnsureTenant', tenant, CALL);
      const key = newApiKeyText();
      const keys = { tenantId, crUid: tenant.crUid, name: 'default', keySha256: [apiKeyHash(key)] };
      await app.messenger.call('auth.SetTenantKeys', keys, CALL);
      const { status } = await upload({ 'x-api-key': key });
      if (end === 'revoked') await app.messenger.call('auth.SetTenantKeys', { ...keys, keySha256: [] }, CALL);
      else await app.messenger.call('auth.EnsureTenant', { ...tenant, state: 'Disabled' }, CALL);
      return status;
    };
    expect(await Promise.all([answerAfter('revoked'), answerAfter('disabled')])).to.deep.equal([401, 403]);
  });

  it('ends when its token expires', async () => {
    const owner = declared();
    await app.messenger.call('auth.EnsureTenant', owner, CALL);
    const token = await logIn(app.baseUrl, owner.ownerEmail, owner.ownerPassword);
    const { status } = await upload({ authorization: `Bearer ${token}` });
    expect(await status).to.equal(401);
  });
});

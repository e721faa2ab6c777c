import { randomBytes, randomUUID, hash as sha } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { createUsers } from '../../services/common/records/auth/users.ts';
import { required } from '../support/auth-service.ts';
import { type Replica, startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

const HASH = `$2b$04$${'a'.repeat(53)}`;
const CALL = { requestId: 'operator' };

describe('tenants of resources on two replicas', () => {
  let replicas: TwoReplicas;
  before(async () => {
    replicas = await startTwoReplicas({ hosted: true, auth: { posture: required } });
  });
  after(() => replicas[Symbol.asyncDispose]());

  const declare = (replica: Replica, crUid: string, change: Partial<RequestOf<'auth.EnsureTenant'>> = {}) =>
    replica.messenger.call(
      'auth.EnsureTenant',
      {
        crUid,
        displayName: 'Acme',
        ownerEmail: `owner-${crUid}@acme.example.com`,
        ownerPasswordHash: HASH,
        hostNames: [`${crUid}.example.com`],
        state: 'Active' as const,
        ...change,
      },
      CALL,
    );
  const setKeys = (replica: Replica, tenantId: TenantId, crUid: string, keys: readonly string[]) => {
    const keySha256 = keys.map((key) => sha('sha256', key));
    return replica.messenger.call('auth.SetTenantKeys', { tenantId, crUid, name: 'default', keySha256 }, CALL);
  };
  const statusAt = (replica: Replica, host: string, key: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const url = new URL(`${replica.baseUrl}/api/v1/datasets`);
      const sent = httpRequest(url, { headers: { host, 'x-api-key': key } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end();
    });

  const untilStatus = (
    replica: Replica,
    host: string,
    { key, status }: { readonly key: string; readonly status: number },
  ) => until(`${status} at ${host}`, async () => (await statusAt(replica, host, key)) === status);

  it('are created once, with one owner, whichever replica is called', async () => {
    const { one, two } = replicas;
    const crUid = randomUUID();
    const answers = await Promise.allSettled([one, two, one, two].map((replica) => declare(replica, crUid)));
    const made = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    // A call while the owner's account is being created is answered with a retryable error.
    const again = await declare(two, crUid);
    expect(new Set([...made, again].map(({ tenantId, ownerId }) => `${tenantId}/${ownerId}`)).size).to.equal(1);
    expect(made.filter(({ created }) => created)).to.have.length(1);
    const owner = await createUsers(replicas.store).findByEmail(`owner-${crUid}@acme.example.com`);
    expect(owner?.id).to.equal(again.ownerId);
  });

  it('have keys and host names that take effect at both replicas', async () => {
    const { one, two } = replicas;
    const crUid = randomUUID();
    const host = `${crUid}.example.com`;
    const { tenantId } = await declare(one, crUid);
    const [old, next] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    await setKeys(one, tenantId, crUid, [old]);
    for (const replica of [one, two]) expect(await statusAt(replica, host, old)).to.equal(200);
    await setKeys(two, tenantId, crUid, [old, next]);
    for (const replica of [one, two]) expect(await statusAt(replica, host, next)).to.equal(200);
    await setKeys(one, tenantId, crUid, [next]);
    for (const replica of [one, two]) await untilStatus(replica, host, { key: old, status: 401 });
    const renamed = `new-${host}`;
    await declare(two, crUid, { hostNames: [renamed] });
    for (const replica of [one, two]) {
      await untilStatus(replica, host, { key: next, status: 401 });
      await untilStatus(replica, renamed, { key: next, status: 200 });
    }
    await declare(one, crUid, { hostNames: [renamed], state: 'Hibernated' });
    for (const replica of [one, two]) await untilStatus(replica, renamed, { key: next, status: 503 });
    await declare(two, crUid, { hostNames: [renamed], state: 'Disabled' });
    for (const replica of [one, two]) await untilStatus(replica, renamed, { key: next, status: 403 });
  });

  it('assign a host name to one of two tenants that request it at the same time', async () => {
    const { one, two } = replicas;
    const hostNames = [`${randomUUID()}.example.com`];
    const uids = [randomUUID(), randomUUID()];
    for (const crUid of uids) await declare(one, crUid);
    const outcomes = await Promise.allSettled([
      declare(one, uids[0] ?? '', { hostNames }),
      declare(two, uids[1] ?? '', { hostNames }),
    ]);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
    expect(refused).to.have.length(1);
    expect(refused[0]).to.include({ wireName: 'HostnameConflict' });
  });
});

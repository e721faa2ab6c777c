import { randomBytes, randomUUID, hash as sha } from 'node:crypto';
import { expect } from 'chai';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import type { ErasureProgress, RequestOf } from '../../services/common/platform/messaging/messages.ts';
import type { ManagedApp } from './managed-app.ts';
import { until } from './until.ts';

/** Hash of no password. */
const NO_PASSWORD = `$2b$04$${'a'.repeat(53)}`;
export const CALL = { requestId: 'operator' };

/** A tenant that a resource manages, with an API key. */
export interface ManagedTenant {
  readonly crUid: string;
  readonly tenantId: TenantId;
  readonly key: string;
}

/** Declares a tenant as the operator does, with one key. */
export async function declareTenant(
  { messenger }: Pick<ManagedApp, 'messenger'>,
  change: Partial<RequestOf<'auth.EnsureTenant'>> = {},
  key = randomBytes(32).toString('hex'),
): Promise<ManagedTenant> {
  const { crUid = randomUUID(), ownerPassword } = change;
  const owner = {
    ownerEmail: `owner-${crUid}@acme.example.com`,
    ...(ownerPassword === undefined ? { ownerPasswordHash: NO_PASSWORD } : {}),
  };
  const request = { crUid, displayName: 'Acme', ...owner, hostNames: [], state: 'Active' as const, ...change };
  const { tenantId } = await messenger.call('auth.EnsureTenant', request, CALL);
  const keys = { tenantId, crUid, name: 'default', keySha256: [sha('sha256', key)] };
  await messenger.call('auth.SetTenantKeys', keys, CALL);
  return { crUid, tenantId, key };
}

/** Repeats the request until the erasure is over. */
export async function untilErased(
  erase: () => Promise<{ readonly progress: ErasureProgress }>,
): Promise<ErasureProgress> {
  return until('everything is erased', async () => {
    const { progress } = await erase();
    expect(progress.failure).to.equal(null);
    return progress.erased ? progress : null;
  });
}

export function eraseTenant(
  { messenger }: Pick<ManagedApp, 'messenger'>,
  { tenantId, crUid }: ManagedTenant,
): Promise<ErasureProgress> {
  return untilErased(() => messenger.call('ingest.EraseTenant', { tenantId, crUid, withoutSnapshots: true }, CALL));
}

/** Sends a request below `/api/v1` with a key; a body goes as JSON. */
export function requestWithKey(
  { baseUrl }: Pick<ManagedApp, 'baseUrl'>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

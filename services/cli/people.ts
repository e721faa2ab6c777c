import type { Answer } from '../client/index.ts';
import type { CommandCall } from './command.ts';
import { CliFailure, exitCodes } from './terminal.ts';
import { isId } from './wire.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A user by id or email address. */
export async function userIdOf(call: CommandCall, who: string): Promise<string> {
  if (isId(who)) return who;
  const path = '/api/v1/users/get-user-id';
  return (await call.api.json<{ readonly user_id: string }>('POST', path, { body: { email: who } })).user_id;
}

export type InvitationAnswer = Answer<'/api/v1/users/invitations', 'post'>;

export function invite(call: CommandCall, email: string): Promise<InvitationAnswer> {
  return call.api.json<InvitationAnswer>('POST', '/api/v1/users/invitations', { body: { email } });
}

export function myTenants(call: CommandCall): Promise<readonly Named[]> {
  return call.api.json<readonly Named[]>('GET', '/api/v1/permissions/tenants/me');
}

/** A tenant of the caller by id or name; without one the selected tenant. */
export async function tenantIdOf(call: CommandCall, tenant: string | null): Promise<string> {
  if (tenant !== null && isId(tenant)) return tenant;
  if (tenant === null) {
    const { tenant_id: selected } = await call.api.json<{ tenant_id: string | null }>('GET', '/api/v1/users/me');
    if (selected !== null) return selected;
    throw new CliFailure('No tenant is selected: name one with --tenant.', exitCodes.usage);
  }
  return among(await myTenants(call), tenant, 'tenant');
}

export function rolesOf(call: CommandCall, tenantId: string): Promise<readonly Named[]> {
  return call.api.json<readonly Named[]>('GET', `/api/v1/permissions/tenants/${tenantId}/roles`);
}

export async function roleIdOf(call: CommandCall, role: string, tenantId: string): Promise<string> {
  return isId(role) ? role : among(await rolesOf(call, tenantId), role, 'role');
}

function among(entries: readonly Named[], name: string, kind: string): string {
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found.id;
  const known = entries.map((entry) => entry.name).join(', ');
  throw new CliFailure(
    `There is no ${kind} '${name}'.${known === '' ? '' : ` There are: ${known}.`}`,
    exitCodes.failed,
  );
}

import { isRecord } from '../../common/kernel/objects.ts';
import type { Reply, Route } from '../../common/platform/http/route.ts';
import { inTenant } from '../../common/platform/http/route-permission.ts';
import { SCIM_MEDIA_TYPE, type ScimErrorType, scimErrorBody } from '../scim/scim-error.ts';

const headers = { 'content-type': SCIM_MEDIA_TYPE };

export function scimReply(body: unknown, status = 200, more: Readonly<Record<string, string>> = {}): Reply {
  return { status, json: body, headers: { ...headers, ...more } };
}

/** What every route of a directory has in common. */
export const OF_DIRECTORY = {
  tag: 'scim',
  auth: 'strict',
  permission: inTenant('manage_users', 'in the current tenant'),
  mediaType: SCIM_MEDIA_TYPE,
  presentError,
} as const satisfies Partial<Route>;

/** Errors of the shared layers as RFC 7644 §3.12 has them; those that are spelled so already stay. */
export function presentError(reply: Reply): Reply {
  const status = reply.status ?? 500;
  const body = isRecord(reply.json) ? reply.json : {};
  const json = Array.isArray(body['schemas']) ? body : scimErrorBody(status, detailOf(body), typeOf(status, body));
  return { ...reply, json, headers: { ...reply.headers, ...headers } };
}

function detailOf({ detail, error }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(detail)) return detail.map(faultText).join('; ');
  const text = typeof detail === 'string' ? detail : typeof error === 'string' ? error : 'Internal server error';
  return text.replace(/ \[\w+\]$/, '');
}

function faultText(fault: unknown): string {
  if (!isRecord(fault)) return 'invalid';
  const place = Array.isArray(fault['loc']) ? fault['loc'].join('.') : 'request';
  return `${place}: ${String(fault['msg'])}`;
}

function typeOf(status: number, { detail }: Readonly<Record<string, unknown>>): ScimErrorType | undefined {
  if (status === 409) return 'uniqueness';
  if (status !== 400) return undefined;
  const isSyntax = Array.isArray(detail) && detail.some((fault) => isRecord(fault) && fault['type'] === 'json_invalid');
  return isSyntax ? 'invalidSyntax' : 'invalidValue';
}

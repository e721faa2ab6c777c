import { z } from 'zod';
import type { Reply } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';

export const DEVICE_PATH = '/api/v1/auth/device';
export const NO_STORE = { 'cache-control': 'no-store' };

/** Description that a program gives of itself, for the person who approves. */
export const shownText = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !/\p{C}/u.test(text), 'String should be printable');

const oauthErrorAnswer = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError' });

/** Routes that a program calls before anybody has signed in. */
export const ofProgram = {
  tag: 'auth',
  auth: 'none',
  permission: NO_PERMISSION,
  presentError,
  errorSchema: oauthErrorAnswer,
} as const;

/** Errors as RFC 6749 §5.2 has them. */
function presentError({ status = 500, json: body, headers = {} }: Reply): Reply {
  const { error, detail } = (body ?? {}) as { readonly error?: unknown; readonly detail?: unknown };
  if (typeof error === 'string' && detail === undefined)
    return { status, json: body, headers: { ...headers, ...NO_STORE } };
  const code = status < 429 ? 'invalid_request' : status === 429 ? 'temporarily_unavailable' : 'server_error';
  const faults = Array.isArray(detail) ? (detail as readonly { loc?: unknown[]; msg?: string }[]) : [];
  const text = typeof detail === 'string' ? detail : faults.map(({ loc, msg }) => `${loc?.at(-1)}: ${msg}`).join('; ');
  return {
    status: status === 422 ? 400 : status,
    json: { error: code, ...(text === '' ? {} : { error_description: text }) },
    headers: { ...headers, ...NO_STORE },
  };
}

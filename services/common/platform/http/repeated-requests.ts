import { createHash } from 'node:crypto';
import { engramError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { IdempotencyKeys } from '../leases/idempotency-keys.ts';
import type { ReceivedBody } from './body.ts';
import type { Reply, Route } from './route.ts';

/** Larger answers are not kept: the repetition is carried out. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Whether the route takes `Idempotency-Key`: it writes to datasets. */
export function takesIdempotencyKey({ method, permission, idempotent }: Route): boolean {
  const isRead = idempotent === true && permission.text.startsWith('read');
  return method !== 'GET' && permission.over === 'datasets' && !isRead;
}

/** The request as the client sent it. */
interface Sent {
  readonly principal: Principal;
  readonly key: string;
  readonly address: readonly string[];
  readonly body: ReceivedBody;
}

/** Answers a request with `Idempotency-Key`: `work` is carried out for the first one alone. */
export async function answerOnce(
  keys: IdempotencyKeys,
  { principal, key, address, body }: Sent,
  work: (operation: string) => Promise<Reply>,
): Promise<Reply> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw engramError('InvalidRequestError', 'Idempotency-Key must have 1 to 255 printable characters without spaces.');
  }
  let reply: Reply | null = null;
  const request = { user: principal.id, tenant: principal.tenant, key, fingerprint: fingerprintOf(address, body) };
  const known = await keys.once(request, async (operation) => {
    reply = await work(operation);
    return keptOf(reply);
  });
  if (known === null) return reply as unknown as Reply;
  const { headers, ...first } = known as Reply & JsonObject;
  return { ...first, headers: { ...headers, 'idempotency-replayed': 'true' } };
}

function fingerprintOf(address: readonly string[], body: ReceivedBody): string {
  const hash = createHash('sha256').update(JSON.stringify(address));
  if (body.kind === 'json') hash.update(JSON.stringify(body.value));
  else if (body.kind === 'raw') hash.update(body.text);
  else if (body.kind === 'form') {
    const files = body.form.files.map(({ field, fileName, sha256 }) => [field, fileName, sha256]);
    hash.update(JSON.stringify([[...body.form.fields], files]));
  }
  return hash.digest('hex');
}

function keptOf({ status = 200, json, text, bytes, stream, headers = {} }: Reply): JsonObject | null {
  if (status >= 400 || text !== undefined || bytes !== undefined || stream !== undefined) return null;
  const kept = { status, ...(json === undefined ? {} : { json }), headers };
  return JSON.stringify(kept).length > MAX_KEPT_BYTES ? null : (kept as JsonObject);
}

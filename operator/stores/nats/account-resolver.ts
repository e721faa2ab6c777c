import type { NatsConnection } from 'nats';
import { failed, refused } from '../administrator-errors.ts';
import { TIMEOUT_MS } from './connection.ts';
import { claimsOf } from './jwt.ts';

/** The accounts that the servers know. Each call is by a connection of a user of the system account. */

/** Null: the servers know no such account. `account` is its public key. */
export async function lookUpClaims(connection: NatsConnection, account: string) {
  return claimsOf(await ask(connection, `$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`, ''));
}

export async function updateAccount(connection: NatsConnection, jwt: string, store: string): Promise<void> {
  await change(connection, '$SYS.REQ.CLAIMS.UPDATE', jwt, store);
}

export async function deleteAccount(connection: NatsConnection, jwt: string, store: string): Promise<void> {
  await change(connection, '$SYS.REQ.CLAIMS.DELETE', jwt, store);
}

async function ask(connection: NatsConnection, subject: string, payload: string): Promise<string> {
  const answer = await connection.request(subject, new TextEncoder().encode(payload), { timeout: TIMEOUT_MS });
  return new TextDecoder().decode(answer.data);
}

/** The server says in JSON whether it did it. */
async function change(connection: NatsConnection, subject: string, jwt: string, store: string): Promise<void> {
  const answer = await ask(connection, subject, jwt);
  const { error } = JSON.parse(answer) as {
    readonly error?: { readonly code?: number; readonly description?: string };
  };
  if (error === undefined) return;
  const { code = 500, description = 'no reason given' } = error;
  if (code >= 500 && !/sign|trust|delet/i.test(description)) throw failed(store, description, undefined);
  throw refused(store, `it needs a resolver of type full with allow_delete: ${description}`, undefined);
}

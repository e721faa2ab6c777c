import { expect } from 'chai';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { until } from './until.ts';
import { createWire, type Wire } from './wire.ts';

export const PASSWORD = 'a-long-password';

/** Signs an account in; returns the login token. */
export async function logIn(baseUrl: string, email: string, password = PASSWORD): Promise<string> {
  const body = new URLSearchParams({ username: email, password });
  const response = await fetch(`${baseUrl}/api/v1/auth/login`, { method: 'POST', body });
  expect(response.status, email).to.equal(200);
  return ((await response.json()) as { access_token: string }).access_token;
}

/** The API as an account sees it with a login token. */
export async function signIn(baseUrl: string, email: string): Promise<Wire> {
  return createWire(baseUrl, { authorization: `Bearer ${await logIn(baseUrl, email, PASSWORD)}` });
}

export interface Account {
  readonly id: UserId;
  readonly token: string;
  readonly wire: Wire;
}

/** Registers `<name>@example.com` and signs it in. */
export async function signUp(baseUrl: string, name: string): Promise<Account> {
  const email = `${name}@example.com`;
  const { status, json } = await createWire(baseUrl).post('/auth/register', { email, password: PASSWORD });
  expect(status, email).to.equal(201);
  const token = await logIn(baseUrl, email, PASSWORD);
  return { id: json.id, token, wire: createWire(baseUrl, { authorization: `Bearer ${token}` }) };
}

/** Verifies the address of an account with the mail that a server without a mail service writes to its log. */
export async function verifyAddress({ post }: Wire, email: string, log: readonly string[]): Promise<void> {
  const before = log.length;
  expect((await post('/auth/request-verify-token', { email })).status).to.equal(202);
  const mail = () => log.slice(before).findLast((line) => line.includes('mail.written_to_log')) ?? '';
  const token = () => /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(mail())?.[0];
  await until('the mail', () => token() !== undefined);
  expect((await post('/auth/verify', { token: token() })).status).to.equal(200);
}

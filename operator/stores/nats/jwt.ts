import { createHash } from 'node:crypto';
import type { KeyPair } from './nkeys.ts';

/** What is signed about `subject`; `claims` stand under `nats`. */
export interface Statement {
  readonly subject: string;
  readonly name: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What NATS calls a JWT: the algorithm is its own. The same statement gives the same text. */
export function signedJwt(issuer: KeyPair, { subject, name, issuedAt, claims }: Statement): string {
  const content = { iat: issuedAt, iss: issuer.getPublicKey(), sub: subject, name, nats: { ...claims, version: 2 } };
  const jti = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const text = [
    { typ: 'JWT', alg: 'ed25519-nkey' },
    { jti, ...content },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString('base64url')}`;
}

/** The `nats` part, unchecked: of what the server, which checks, has given. Null when there is none to read. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> | null {
  try {
    const content = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as { nats?: unknown };
    return typeof content.nats === 'object' ? (content.nats as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
}

/** The content of a credentials file, as `nsc` writes it. */
export function credentialsOf(jwt: string, user: KeyPair): string {
  const seed = new TextDecoder().decode(user.getSeed());
  return [
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ].join('\n');
}

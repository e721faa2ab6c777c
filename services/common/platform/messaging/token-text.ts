import { sha256OfJson } from '../../kernel/hashes.ts';
import { parseJson } from '../../kernel/json.ts';
import type { PresentedKey } from '../../kernel/principal.ts';

/** Content of a principal token. */
export interface TokenClaims {
  readonly aud: string;
  /** User id. */
  readonly sub: string;
  readonly jti: string;
  readonly email: string;
  readonly tenant: string;
  readonly isSuperuser: boolean;
  readonly parentId: string | null;
  readonly key?: PresentedKey;
  /** Seconds since 1970, with a fraction. */
  readonly iat: number;
  readonly exp: number;
}

/** A token whose signature was not looked at yet: nothing in it may be believed. */
interface UnverifiedToken {
  readonly kid: string;
  /** Signed part of the token. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  /** Reads the content, after the signature was verified: auth writes nothing else. */
  claims(): TokenClaims;
}

const TYPE = 'engram-principal+jwt';

/** RFC 7515, compact. The algorithm is always EdDSA with Ed25519: a header that says otherwise changes nothing. */
export function tokenText(kid: string, claims: TokenClaims, sign: (signed: Uint8Array) => Uint8Array): string {
  const signed = `${encoded({ alg: 'EdDSA', typ: TYPE, kid })}.${encoded(claims)}`;
  return `${signed}.${Buffer.from(sign(Buffer.from(signed))).toString('base64url')}`;
}

/** Returns null for a text that is not such a token. */
export function parseToken(token: string): UnverifiedToken | null {
  const [header = '', payload = '', signature = '', ...more] = token.split('.');
  if (more.length > 0) return null;
  const { typ, kid } = headerOf(header);
  if (typ !== TYPE || typeof kid !== 'string') return null;
  return {
    kid,
    signed: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
    claims: () => JSON.parse(Buffer.from(payload, 'base64url').toString()) as TokenClaims,
  };
}

/** RFC 7638 thumbprint of an Ed25519 key, by its `x`. */
export function keyId(x: string): string {
  return sha256OfJson({ crv: 'Ed25519', kty: 'OKP', x }, 'base64url');
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function headerOf(text: string): { readonly typ?: unknown; readonly kid?: unknown } {
  return (parseJson(Buffer.from(text, 'base64url').toString()) ?? {}) as { typ?: unknown; kid?: unknown };
}

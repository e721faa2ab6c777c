import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { sha256OfJson } from '../../kernel/hashes.ts';

/** A key pair of login tokens. The algorithm belongs to the key: no header of a token can choose another. */
export interface TokenKey {
  /** RFC 7638 thumbprint, or the `kid` of the JSON Web Key it was given as. */
  readonly kid: string;
  readonly algorithm: 'EdDSA' | 'ES256' | 'RS256';
  readonly publicKey: KeyObject;
  /** Null: verifies only. */
  readonly privateKey: KeyObject | null;
}

const MIN_RSA_BITS = 2048;
const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;
/** `openssl ecparam -genkey` puts it before the key; the key names its curve too. */
const NO_KEY = 'EC PARAMETERS';

/**
 * Keys as PEM blocks one after the other (`\n` may stand for line ends), a JSON Web Key, a list or a set of them: Ed25519,
 * P-256, or RSA of at least 2048 bits. The first is private: it signs.
 */
export function tokenKeys(): z.ZodType<readonly TokenKey[], string> {
  return z.string().transform((text, context) => {
    try {
      return readTokenKeys(text);
    } catch (error) {
      // The parsers' own messages may quote what they read.
      const message = error instanceof UnusableKey ? error.message : 'must be PEM blocks or JSON Web Keys';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });
}

class UnusableKey extends Error {
  override readonly name = 'UnusableKey';
}

function readTokenKeys(text: string): readonly TokenKey[] {
  const keys = /^\s*[[{]/.test(text) ? webKeysOf(JSON.parse(text)).map(keyOfJwk) : pemBlocksOf(text).map(keyOfPem);
  if (keys.length === 0) throw new UnusableKey('holds no key');
  if (keys[0]?.privateKey === null) throw new UnusableKey('must begin with a private key: the first one signs');
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new UnusableKey('holds a key id twice');
  return keys;
}

function pemBlocksOf(text: string): readonly string[] {
  const lines = text.replaceAll(String.raw`\n`, '\n');
  if (lines.replaceAll(PEM_BLOCK, '').trim() !== '') throw new UnusableKey('must be PEM blocks or JSON Web Keys');
  return [...lines.matchAll(PEM_BLOCK)].filter(([, label]) => label !== NO_KEY).map(([block]) => block);
}

function keyOfPem(block: string): TokenKey {
  if (!block.startsWith('-----BEGIN PUBLIC')) return tokenKey(createPrivateKey(block));
  return tokenKey(createPublicKey(block));
}

function webKeysOf(value: unknown): readonly JsonWebKey[] {
  if (Array.isArray(value)) return value as readonly JsonWebKey[];
  const { keys } = value as { readonly keys?: unknown };
  return Array.isArray(keys) ? (keys as readonly JsonWebKey[]) : [value as JsonWebKey];
}

function keyOfJwk(jwk: JsonWebKey): TokenKey {
  if (jwk.kty === 'oct') throw new UnusableKey('holds a symmetric key: secrets belong into FASTAPI_USERS_JWT_SECRET');
  const { kid, alg } = jwk as { readonly kid?: unknown; readonly alg?: unknown };
  const isPrivate = jwk.d !== undefined;
  const key = tokenKey(
    isPrivate ? createPrivateKey({ key: jwk, format: 'jwk' }) : createPublicKey({ key: jwk, format: 'jwk' }),
  );
  if (alg !== undefined && alg !== key.algorithm) {
    throw new UnusableKey(`holds a key for another algorithm than ${key.algorithm}`);
  }
  return typeof kid === 'string' && kid !== '' ? { ...key, kid } : key;
}

function tokenKey(key: KeyObject): TokenKey {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return {
    kid: thumbprint(publicKey),
    algorithm: algorithmOf(publicKey),
    publicKey,
    privateKey: key.type === 'private' ? key : null,
  };
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject) {
  if (type === 'ed25519') return 'EdDSA';
  if (type === 'ec' && details.namedCurve === 'prime256v1') return 'ES256';
  if (type === 'rsa' && (details.modulusLength ?? 0) >= MIN_RSA_BITS) return 'RS256';
  throw new UnusableKey('must hold Ed25519, P-256 or RSA keys of at least 2048 bits');
}

/** RFC 7638: SHA-256 of the required members in the order of their names. */
function thumbprint(publicKey: KeyObject): string {
  const { crv, e, kty, n, x, y } = publicKey.export({ format: 'jwk' });
  return sha256OfJson({ crv, e, kty, n, x, y }, 'base64url');
}

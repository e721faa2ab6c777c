import {
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  randomUUID,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { deriveSigningKey } from '../../kernel/derived-key.ts';
import { engramError } from '../../kernel/errors.ts';
import { asId, isUuid } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { keepNewest } from '../../kernel/recently-used.ts';
import type { Clock, MonotonicClock, WallClock } from '../../ports/system.ts';
import { keyId, parseToken, type TokenClaims, tokenText } from './token-text.ts';

/** Signs principals; auth alone has one. */
export interface PrincipalSigner {
  /** Speaks for the principal for a minute, or some seconds less: who sends many requests is signed once for several. */
  sign(principal: Principal): string;
  /** Ed25519 JSON Web Keys (RFC 8037) as JSON text each, the newest first. */
  readonly publicKeys: readonly string[];
}

/** Everybody else's way to believe it. */
export interface PrincipalVerifier {
  /**
   * `PermissionDeniedError` for what auth did not sign; `ServiceUnavailableError`, retryable, for a token that ended, because
   * the message waited for longer or because clocks differ.
   */
  verify(token: string): Promise<Principal>;
}

export const TOKEN_LIFETIME_MS = 60_000;
/** A principal that is signed again so soon gets the same token: signing and verifying cost more than most messages. */
const SAME_TOKEN_MS = 5_000;
const MAX_SIGNED = 1000;
/** Clocks of machines may differ by as much. */
const CLOCK_SKEW_MS = 10_000;
const AUDIENCE = 'engram-bus';
const KEY_PURPOSE = 'engram principal tokens';

/**
 * The key derives from the secret, so all replicas that share the secret sign alike. `acceptedSecrets`: those that other
 * replicas sign with while the secret is changed; whichever replica a verifier asks for keys, it knows them all.
 */
export function createPrincipalSigner(
  secret: Uint8Array | string,
  clock: WallClock,
  acceptedSecrets: readonly string[] = [],
): PrincipalSigner {
  const { privateKey, kid, publicText } = keyPairOf(secret);
  const signed = new Map<string, { readonly token: string; readonly at: number }>();
  return {
    publicKeys: [publicText, ...acceptedSecrets.map((accepted) => keyPairOf(accepted).publicText)],
    sign({ id, email, tenant, isSuperuser, parentId, key }) {
      const now = clock.now().getTime();
      const whose = {
        sub: id,
        email,
        tenant,
        isSuperuser,
        parentId,
        ...(key === undefined ? {} : { key }),
      };
      const name = JSON.stringify(whose);
      const last = signed.get(name);
      if (last !== undefined && now >= last.at && now < last.at + SAME_TOKEN_MS) return last.token;
      const times = { iat: now / 1000, exp: (now + TOKEN_LIFETIME_MS) / 1000 };
      const claims: TokenClaims = { aud: AUDIENCE, jti: randomUUID(), ...whose, ...times };
      const token = tokenText(kid, claims, (content) => signBytes(null, content, privateKey));
      if (signed.size >= MAX_SIGNED) signed.clear();
      signed.set(name, { token, at: now });
      return token;
    },
  };
}

function keyPairOf(secret: Uint8Array | string) {
  const { privateKey, publicJwk } = deriveSigningKey(secret, KEY_PURPOSE);
  const kid = keyId(publicJwk.x);
  return { privateKey, kid, publicText: JSON.stringify({ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' }) };
}

interface VerifierOptions {
  /** Asks auth for its keys; called again for a key that is not known, at most once a second. */
  readonly keys: () => Promise<readonly string[]>;
  readonly clock: Clock;
}

/** Verified tokens are remembered until they end: a principal sends the same one many times. */
const MAX_REMEMBERED = 10_000;
const KEYS_EVERY_MS = 1000;

export function createPrincipalVerifier({ keys, clock }: VerifierOptions): PrincipalVerifier {
  const remembered = new Map<string, TokenClaims>();
  const known = createKeyRing(keys, clock);

  const verified = async (token: string): Promise<TokenClaims> => {
    const earlier = remembered.get(token);
    if (earlier !== undefined) return earlier;
    const parsed = parseToken(token);
    if (parsed === null) throw unsigned();
    const key = await known.find(parsed.kid);
    if (key === null || !verifyBytes(null, parsed.signed, key, parsed.signature)) throw unsigned();
    const claims = parsed.claims();
    if (claims.aud !== AUDIENCE || !isUuid(claims.sub)) throw unsigned();
    keepNewest(remembered, MAX_REMEMBERED, token, claims);
    return claims;
  };
  return {
    async verify(token) {
      const claims = await verified(token);
      const now = clock.now().getTime();
      const isOver = now > claims.exp * 1000 + CLOCK_SKEW_MS;
      if (!isOver && now >= claims.iat * 1000 - CLOCK_SKEW_MS) return principalOf(claims);
      remembered.delete(token);
      const fault = isOver ? 'ended' : 'begins in the future';
      throw engramError(
        'ServiceUnavailableError',
        `The principal of the message ${fault}: it waited too long, or the clocks of two machines differ.`,
        { retryable: true, retryAfterSeconds: 1 },
      );
    },
  };
}

function createKeyRing(keys: () => Promise<readonly string[]>, clock: MonotonicClock) {
  let byId = new Map<string, KeyObject>();
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> = Promise.resolve();
  const ask = async (): Promise<void> => {
    const found = await keys();
    byId = new Map(found.map(publicKey));
  };
  return {
    async find(kid: string): Promise<KeyObject | null> {
      if (!byId.has(kid) && clock.monotonicMs() - askedAt >= KEYS_EVERY_MS) {
        askedAt = clock.monotonicMs();
        asking = ask().catch((error: unknown) => {
          askedAt = Number.NEGATIVE_INFINITY; // nothing was learnt: the next one asks again
          throw error;
        });
      }
      if (!byId.has(kid)) await asking;
      return byId.get(kid) ?? null;
    },
  };
}

function publicKey(text: string): [string, KeyObject] {
  const { kty, crv, x } = JSON.parse(text) as JsonWebKey;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string')
    throw new Error('auth gave a key that is no Ed25519');
  return [keyId(x), createPublicKey({ key: { kty, crv, x }, format: 'jwk' })];
}

function principalOf({ sub, email, tenant, isSuperuser, parentId, key }: TokenClaims): Principal {
  return {
    id: asId(sub),
    email,
    tenant: asId(tenant),
    isSuperuser,
    parentId: parentId === null ? null : asId(parentId),
    ...(key === undefined ? {} : { key }),
  };
}

function unsigned(): Error {
  return engramError('PermissionDeniedError', 'The principal of the message is not signed by auth.');
}

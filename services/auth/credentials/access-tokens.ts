import type { JsonWebKey } from 'node:crypto';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { User } from '../../common/records/auth/users.ts';
import { createTokenKeyRing, type TokenKeyRingOptions, type VerifyingKey } from './token-key-ring.ts';

/** Login tokens must not pass as tokens of other kinds (password reset, verification), nor those as login tokens. */
const AUDIENCE = 'fastapi-users:auth';

export interface TokenClaims {
  readonly userId: UserId;
  readonly tokenId: string;
  readonly expiresAt: Date | null;
  readonly fingerprint: string;
}

/** What of an account its tokens depend on. */
export type TokenOwner = Pick<User, 'passwordHash' | 'shutOuts'>;

export interface IssuedToken {
  readonly text: string;
  /** `jti`: names the token where its text must not stand. */
  readonly id: string;
}

/**
 * Login tokens of auth-integrations.md §2.3: `sub`, `aud`, `exp`, and `pwd`, an HMAC of the stored password hash, by
 * which a changed password ends every older token, as does a time of being inactive. `jti` is ours: a logout ends one token by it. So is `kid` in the header.
 */
export interface AccessTokens {
  issue(user: Pick<User, 'id'> & TokenOwner): Promise<IssuedToken>;
  /** Null unless signature, algorithm, audience and time are right and all claims are there. */
  read(token: string): Promise<TokenClaims | null>;
  /** The password has not changed since the token was issued, nor was the account inactive. */
  isCurrent(claims: TokenClaims, user: TokenOwner): boolean;
  /** JSON Web Keys with which anybody may verify tokens; none while a secret signs them. */
  readonly publicKeys: readonly JsonWebKey[];
}

export interface AccessTokensOptions extends TokenKeyRingOptions {
  /** 0: tokens do not end by themselves. */
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** With the first token: its 46 modules cost 30 ms, and an open service on loopback never sees one. */
const loadJose = () => import('jose');

export function createAccessTokens({ lifetimeSeconds, clock, ids, ...keys }: AccessTokensOptions): AccessTokens {
  const ring = createTokenKeyRing(keys);

  /** The claims of a token that this key signed; null for any other. */
  const verified = async (token: string, { key, algorithm }: VerifyingKey) => {
    const { errors, jwtVerify } = await loadJose();
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        audience: AUDIENCE,
        requiredClaims: ['sub', 'jti', 'pwd'],
        currentDate: clock.now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  };
  return {
    async issue({ id, ...owner }) {
      const { SignJWT } = await loadJose();
      const { kid, algorithm, key } = ring.signing;
      const tokenId = ids.uuid();
      const token = new SignJWT({ pwd: ring.fingerprint(standOf(owner)) })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid })
        .setSubject(id)
        .setAudience([AUDIENCE])
        .setJti(tokenId);
      if (lifetimeSeconds > 0) token.setExpirationTime(Math.floor(clock.now().getTime() / 1000) + lifetimeSeconds);
      return { text: await token.sign(key), id: tokenId };
    },
    async read(token) {
      const kid = keyIdOf(token);
      for (const candidate of kid === undefined ? [] : ring.candidates(kid)) {
        const payload = await verified(token, candidate);
        if (payload === null) continue;
        const { sub = '', jti = '', exp, pwd } = payload;
        if (!isUuid(sub) || typeof jti !== 'string' || jti === '' || typeof pwd !== 'string') return null;
        const expiresAt = exp === undefined ? null : new Date(exp * 1000);
        return { userId: asId(sub), tokenId: jti, expiresAt, fingerprint: pwd };
      }
      return null;
    },
    isCurrent: ({ fingerprint }, owner) => ring.matches(fingerprint, standOf(owner)),
    publicKeys: ring.publicKeys,
  };
}

/** What must not have changed since a token was issued. Of an account that was never inactive it is the hash alone. */
function standOf({ passwordHash, shutOuts }: TokenOwner): string {
  return shutOuts === 0 ? passwordHash : `${passwordHash} ${shutOuts}`;
}

/** Null for a token without a key id, undefined for what cannot be a token. Nothing is verified here. */
function keyIdOf(token: string): string | null | undefined {
  try {
    const [header = ''] = token.split('.', 1);
    const { kid = null } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid?: unknown };
    return kid === null || typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

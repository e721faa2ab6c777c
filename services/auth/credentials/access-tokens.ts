import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../../common/domain/brand.ts';
import { asId, isUuid } from '../../common/domain/ids.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { User } from '../../common/repositories/users.ts';

/** Login tokens must not pass as tokens of other kinds (password reset, verification), nor those as login tokens. */
const AUDIENCE = 'fastapi-users:auth';

export interface TokenClaims {
  readonly userId: UserId;
  readonly tokenId: string;
  readonly expiresAt: Date | null;
  readonly fingerprint: string;
}

/**
 * HS256 login tokens of auth-integrations.md §2.3: `sub`, `aud`, `exp`, and `pwd`, an HMAC of the stored password hash, by
 * which a changed password ends every older token. `jti` is ours: a logout ends one token by it.
 */
export interface AccessTokens {
  issue(user: Pick<User, 'id' | 'passwordHash'>): Promise<string>;
  /** Null unless signature, algorithm, audience and time are right and all claims are there. */
  read(token: string): Promise<TokenClaims | null>;
  /** The password has not changed since the token was issued. */
  isCurrent(claims: TokenClaims, user: Pick<User, 'passwordHash'>): boolean;
}

export interface AccessTokensOptions {
  readonly secret: Uint8Array | string;
  /** 0: tokens do not end by themselves. */
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** With the first token: its 46 modules cost 30 ms, and an open service on loopback never sees one. */
const loadJose = () => import('jose');

export function createAccessTokens({ secret, lifetimeSeconds, clock, ids }: AccessTokensOptions): AccessTokens {
  const secretBytes = typeof secret === 'string' ? Buffer.from(secret, 'utf8') : Buffer.from(secret);
  if (secretBytes.length === 0) throw new Error('the secret that signs login tokens is empty');
  const key = createSecretKey(secretBytes);
  const fingerprintOf = (passwordHash: string) => createHmac('sha256', key).update(passwordHash).digest('hex');
  return {
    async issue({ id, passwordHash }) {
      const { SignJWT } = await loadJose();
      const token = new SignJWT({ pwd: fingerprintOf(passwordHash) })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(id)
        .setAudience([AUDIENCE])
        .setJti(ids.uuid());
      if (lifetimeSeconds > 0) token.setExpirationTime(Math.floor(clock.now().getTime() / 1000) + lifetimeSeconds);
      return token.sign(key);
    },
    async read(token) {
      const { errors, jwtVerify } = await loadJose();
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          audience: AUDIENCE,
          requiredClaims: ['sub', 'jti', 'pwd'],
          currentDate: clock.now(),
        });
        const { sub = '', jti = '', exp, pwd } = payload;
        if (!isUuid(sub) || jti === '' || typeof pwd !== 'string') return null;
        const expiresAt = exp === undefined ? null : new Date(exp * 1000);
        return { userId: asId(sub), tokenId: jti, expiresAt, fingerprint: pwd };
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
    isCurrent({ fingerprint }, { passwordHash }) {
      const given = Buffer.from(fingerprint, 'utf8');
      const expected = Buffer.from(fingerprintOf(passwordHash), 'utf8');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

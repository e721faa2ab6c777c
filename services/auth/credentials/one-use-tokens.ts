import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { WallClock } from '../../common/ports/system.ts';
import type { User } from '../../common/records/auth/users.ts';
import { derivedHmacKey, loadJose, readHs256Token } from './hs256-tokens.ts';

/** Audiences separate the kinds from each other and from login tokens. */
const RESET_AUDIENCE = 'fastapi-users:reset';
const VERIFY_AUDIENCE = 'fastapi-users:verify';
const INVITATION_AUDIENCE = 'engram:invitation';
const LIFETIME_SECONDS = 3600;
const INVITATION_LIFETIME_SECONDS = 7 * 86_400;

type Account = Pick<User, 'id' | 'email' | 'passwordHash' | 'sessionEpoch'>;

export interface ResetClaims {
  readonly userId: UserId;
  readonly fingerprint: string;
}

/**
 * HS256 tokens that are sent by mail (proto/http/auth-integrations.md §2.4). A reset token has a fingerprint of the password
 * hash, the session epoch and the address: using it, a deactivation or a changed address ends it. An invitation is a reset
 * token that lasts longer. A verification token names the address that it proves, and proves it once.
 */
export type OneUseTokens = ReturnType<typeof createOneUseTokens>;

interface OneUseTokensOptions {
  /** The keys of the two kinds derive from it unless they are set, so that tokens survive restarts and all replicas agree. */
  readonly jwtSecret: Uint8Array | string;
  readonly resetSecret: string | null;
  readonly verificationSecret: string | null;
  readonly clock: WallClock;
}

export function createOneUseTokens(options: OneUseTokensOptions) {
  const { jwtSecret, clock } = options;
  const resetKey = keyOf(options.resetSecret, jwtSecret, 'engram reset-password tokens');
  const verificationKey = keyOf(options.verificationSecret, jwtSecret, 'engram verification tokens');
  const fingerprintOf = ({ passwordHash, email, sessionEpoch }: Account) =>
    createHmac('sha256', resetKey)
      .update(JSON.stringify([passwordHash, email, sessionEpoch]))
      .digest('hex');

  const issue = async (
    key: KeyObject,
    audience: string,
    user: Account,
    claims: Readonly<Record<string, string>>,
    lifetimeSeconds = LIFETIME_SECONDS,
  ) => {
    const { SignJWT } = await loadJose();
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(user.id)
      .setAudience(audience)
      .setExpirationTime(Math.floor(clock.now().getTime() / 1000) + lifetimeSeconds)
      .sign(key);
  };
  /** The user and the one claim that differs between the kinds. */
  const read = async (key: KeyObject, audience: string | string[], claim: string, token: string) => {
    const rules = { key, audience, requiredClaims: ['sub', 'exp', claim], currentDate: clock.now() };
    const { sub = '', [claim]: value } = (await readHs256Token(token, rules)) ?? {};
    return isUuid(sub) && typeof value === 'string' ? { userId: asId<UserId>(sub), value } : null;
  };
  return {
    issueReset: (user: Account) => issue(resetKey, RESET_AUDIENCE, user, { password_fgpt: fingerprintOf(user) }),
    /** Read like a reset token, by `readReset`. */
    async issueInvitation(user: Account) {
      const claims = { password_fgpt: fingerprintOf(user) };
      const token = await issue(resetKey, INVITATION_AUDIENCE, user, claims, INVITATION_LIFETIME_SECONDS);
      return { token, expiresAt: new Date(clock.now().getTime() + INVITATION_LIFETIME_SECONDS * 1000) };
    },
    /** Null unless signature, algorithm, audience and time are valid. */
    async readReset(token: string) {
      const found = await read(resetKey, [RESET_AUDIENCE, INVITATION_AUDIENCE], 'password_fgpt', token);
      return found === null ? null : { userId: found.userId, fingerprint: found.value };
    },
    /** Whether password and address have not changed and the account was not deactivated since the token was issued. */
    isUnused({ fingerprint }: ResetClaims, user: Account) {
      const given = Buffer.from(fingerprint, 'utf8');
      const expected = Buffer.from(fingerprintOf(user), 'utf8');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    issueVerification: (user: Account) => issue(verificationKey, VERIFY_AUDIENCE, user, { email: user.email }),
    /** Reads a token like `readReset`. */
    async readVerification(token: string) {
      const found = await read(verificationKey, VERIFY_AUDIENCE, 'email', token);
      return found === null ? null : { userId: found.userId, email: found.value };
    },
  };
}

function keyOf(secret: string | null, jwtSecret: Uint8Array | string, purpose: string): KeyObject {
  if (secret !== null && secret !== '') return createSecretKey(Buffer.from(secret, 'utf8'));
  if (jwtSecret.length === 0) throw new Error('there is no secret to derive the keys of one-use tokens from');
  return derivedHmacKey(jwtSecret, purpose);
}

import type { UserId } from '../../common/kernel/brand.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { ApiKey } from '../../common/records/auth/api-keys.ts';
import { derivedHmacKey, loadJose, readHs256Token } from './hs256-tokens.ts';

/** A program that people let in, as it described itself: an agent or an editor that speaks MCP. */
export interface Program {
  readonly name: string;
  /** Addresses that a person may be sent back to with a code. */
  readonly redirectUris: readonly string[];
}

/** The limits of the key that a code is exchanged for. */
type KeyLimits = Pick<ApiKey, 'permissions' | 'datasets' | 'expiresAt'>;

/** An approved sign-in of a program, until it exchanges the code. */
interface Authorization {
  readonly userId: UserId;
  readonly clientId: string;
  readonly redirectUri: string;
  /** base64url of SHA-256 of the verifier that the program keeps (RFC 7636). */
  readonly challenge: string;
  readonly limits: KeyLimits;
}

/** A minute: a program exchanges its code at once (RFC 6749 §4.1.2). */
const CODE_LIFETIME_SECONDS = 60;
const PROGRAM_AUDIENCE = 'engram:program';
const CODE_AUDIENCE = 'engram:authorization-code';

/**
 * Ids of programs and authorization codes as signed texts: any replica reads them, and registrations, which anybody may make,
 * take no room. The key derives from the secret of the installation; after its change programs register again.
 */
export function createProgramTokens(options: {
  readonly secret: Uint8Array | string;
  readonly clock: Clock;
  readonly ids: IdSource;
}) {
  const { secret, clock, ids } = options;
  const key = derivedHmacKey(secret, 'engram program sign-in');
  const header = { alg: 'HS256', typ: 'JWT' } as const;
  const read = (audience: string, token: string) => readHs256Token(token, { key, audience, currentDate: clock.now() });
  return {
    async issueClientId({ name, redirectUris }: Program): Promise<string> {
      const { SignJWT } = await loadJose();
      return new SignJWT({ name, uris: redirectUris })
        .setProtectedHeader(header)
        .setAudience(PROGRAM_AUDIENCE)
        .sign(key);
    },
    /** Null for an id that this installation has not issued. */
    async readClientId(clientId: string): Promise<Program | null> {
      const found = await read(PROGRAM_AUDIENCE, clientId);
      return found === null ? null : { name: String(found['name']), redirectUris: found['uris'] as readonly string[] };
    },
    async issueCode({ userId, clientId, redirectUri, challenge, limits }: Authorization): Promise<string> {
      const { SignJWT } = await loadJose();
      return new SignJWT({ client: sha256(clientId), redirectUri, challenge, limits })
        .setProtectedHeader(header)
        .setSubject(userId)
        .setAudience(CODE_AUDIENCE)
        .setJti(ids.uuid())
        .setExpirationTime(Math.floor(clock.now().getTime() / 1000) + CODE_LIFETIME_SECONDS)
        .sign(key);
    },
    /** Null for a code that is expired, forged or of another program. */
    async readCode(code: string, clientId: string) {
      const found = await read(CODE_AUDIENCE, code);
      if (found === null || found['client'] !== sha256(clientId)) return null;
      const { sub = '', jti = '', exp = 0 } = found;
      if (!isUuid(sub)) return null;
      return {
        userId: asId<UserId>(sub),
        clientId,
        codeId: jti,
        expiresAt: new Date(exp * 1000),
        redirectUri: String(found['redirectUri']),
        challenge: String(found['challenge']),
        limits: found['limits'] as KeyLimits,
      };
    },
  };
}

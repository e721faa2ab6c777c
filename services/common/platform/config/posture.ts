/** Decision whether calls need credentials (auth-integrations.md §2.2), made once at start. */
export interface AuthPosture {
  readonly required: boolean;
  /** The words in the text of a 401. */
  readonly reason: string;
  /**
   * Single-user mode by default: no variable was set and the server listens on loopback only. Its login
   * accepts any password, and a request that came through a proxy is refused.
   */
  readonly openByDefault: boolean;
  /** A server on loopback that asks for no credentials: foreign hosts and origins are refused. */
  readonly guarded: boolean;
}

interface PostureInput {
  readonly accessControl: boolean | undefined;
  readonly requireAuthentication: boolean | undefined;
  readonly host: string;
}

export function decidePosture(input: PostureInput): AuthPosture {
  const { required, reason, openByDefault = false } = decide(input);
  return { required, reason, openByDefault, guarded: !required && isLoopback(input.host) };
}

const DEFAULT = 'default (no env vars set)';
const INHERITED = 'inherited from ENABLE_BACKEND_ACCESS_CONTROL';
const EXPLICIT = 'explicit REQUIRE_AUTHENTICATION';
const FORCED = 'forced on by multi-tenant mode (REQUIRE_AUTHENTICATION=false was ignored)';

function decide(input: PostureInput): { required: boolean; reason: string; openByDefault?: boolean } {
  const { accessControl, requireAuthentication, host } = input;
  if (requireAuthentication === true) return { required: true, reason: EXPLICIT };
  if (accessControl === true) {
    return requireAuthentication === false ? { required: true, reason: FORCED } : { required: true, reason: INHERITED };
  }
  if (accessControl === false) {
    return { required: false, reason: requireAuthentication === false ? EXPLICIT : INHERITED };
  }
  if (isLoopback(host)) {
    return { required: false, reason: requireAuthentication === false ? EXPLICIT : DEFAULT, openByDefault: true };
  }
  // Access control is on by default, and it wins over REQUIRE_AUTHENTICATION=false.
  return { required: true, reason: requireAuthentication === false ? FORCED : DEFAULT };
}

/** Addresses that only this machine reaches. A name other than `localhost` may resolve to anything. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

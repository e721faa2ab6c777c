/**
 * Who must present a credential (auth-integrations.md §2.2, decisions.md "posture"). Undefined means that the variable is
 * unset or empty.
 */
export interface PostureSettings {
  /** ENABLE_BACKEND_ACCESS_CONTROL */
  readonly accessControl: boolean | undefined;
  /** REQUIRE_AUTHENTICATION */
  readonly requireAuthentication: boolean | undefined;
  /** Address or name that the server binds to. */
  readonly host: string;
}

export interface Posture {
  /** A request without an accepted credential is refused. */
  readonly required: boolean;
  /**
   * Single-user mode: nobody needs a credential and only this machine can connect. Requests with a foreign Host, a foreign
   * Origin or a forwarding header must be refused then, and the default account's login takes any password.
   */
  readonly open: boolean;
  /** The text in `Authentication required (auth posture: <reason>).` */
  readonly reason: string;
}

/**
 * With both variables unset the address decides. Access control is on by default, so REQUIRE_AUTHENTICATION=false alone
 * opens the service on loopback only; elsewhere ENABLE_BACKEND_ACCESS_CONTROL=false must be said too.
 */
export function posture({ accessControl, requireAuthentication, host }: PostureSettings): Posture {
  const isLocal = isLoopbackHost(host);
  const decide = (required: boolean, reason: string): Posture => ({ required, open: !required && isLocal, reason });
  const isControlled = accessControl ?? !isLocal;
  if (requireAuthentication === true) {
    return decide(true, accessControl === true ? INHERITED : 'explicit REQUIRE_AUTHENTICATION');
  }
  if (requireAuthentication === false) {
    return isControlled
      ? decide(true, 'forced on by multi-tenant mode (REQUIRE_AUTHENTICATION=false was ignored)')
      : decide(false, 'explicit REQUIRE_AUTHENTICATION');
  }
  return decide(isControlled, accessControl === undefined ? 'default (no env vars set)' : INHERITED);
}

const INHERITED = 'inherited from ENABLE_BACKEND_ACCESS_CONTROL';

/** Only the word `true`, in any case, is true; blank counts as unset; every other value is false. */
export function readSwitch(text: string | undefined): boolean | undefined {
  return text === undefined || text === '' ? undefined : text.toLowerCase() === 'true';
}

/** True for `localhost`, 127.0.0.0/8, ::1 (also bracketed) and their mapped forms; false for 0.0.0.0, :: and ''. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

import { randomBytes, randomInt } from 'node:crypto';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Stored } from '../../common/storage/ports/document-store.ts';
import { isAdmitted } from '../access/admission.ts';
import { requireNoKeyBudget } from '../budgets/budgets.ts';
import { openSession } from '../credentials/login-sessions.ts';
import type { AuthDependencies } from '../model.ts';
import type { DeviceSignIn } from '../repositories/device-sign-ins.ts';
import { limitRequests, oauthError } from './program-requests.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const LIFETIME_SECONDS = 600;
const INTERVAL_SECONDS = 5;
/** Polls may arrive closer together than they were sent. */
const JITTER_MS = 1_000;

/** Consonants that are hard to confuse: no words are spelt by chance (RFC 8628 §6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;

/** Sign-ins started per client address, which may be that of a whole company, and codes looked up per user. */
const STARTS = { capacity: 30, refillPerSecond: 0.5 };
const LOOKUPS = { capacity: 20, refillPerSecond: 0.2 };
const TOO_MANY = 'Too many sign-ins of devices.';

interface DeviceRequest {
  readonly clientId: string;
  readonly deviceName: string | null;
  readonly remoteAddress: string;
}

/** Starts a sign-in: the program shows the user code and polls with the device code. Errors: `TooManyRequestsError`. */
export async function startDeviceSignIn(deps: AuthDependencies, request: DeviceRequest) {
  const { clientId, deviceName, remoteAddress } = request;
  await limitRequests(deps.deviceLimiter, `start ${remoteAddress}`, STARTS, TOO_MANY);
  const deviceCode = randomBytes(32).toString('base64url');
  const nowMs = deps.clock.now().getTime();
  const signIn = {
    ...({ clientId, deviceName, address: remoteAddress, state: 'pending', decidedBy: null } as const),
    intervalSeconds: INTERVAL_SECONDS,
    polledAtMs: 0,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + LIFETIME_SECONDS * 1_000,
  };
  const letters = await retryOnConflict(async () => {
    const drawn = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    await deps.deviceSignIns.add(deviceCode, drawn, signIn);
    return drawn;
  });
  const userCode = `${letters.slice(0, CODE_LENGTH / 2)}-${letters.slice(CODE_LENGTH / 2)}`;
  return { deviceCode, userCode, expiresInSeconds: LIFETIME_SECONDS, intervalSeconds: INTERVAL_SECONDS };
}

/**
 * Returns a login token once the sign-in is approved, once. Errors, as 400 with the codes of RFC 8628 §3.5:
 * `authorization_pending`, `slow_down`, `access_denied`, `expired_token`, and `invalid_grant` for an unknown or used code.
 */
export async function redeemDeviceCode(
  deps: AuthDependencies,
  { deviceCode, clientId, remoteAddress }: Omit<DeviceRequest, 'deviceName'> & { readonly deviceCode: string },
): Promise<string> {
  const { deviceSignIns, clock, users } = deps;
  return retryOnConflict(async () => {
    const found = await deviceSignIns.byDeviceCode(deviceCode);
    if (found === null || found.value.clientId !== clientId) throw oauthError('invalid_grant');
    const { state, decidedBy, expiresAtMs, polledAtMs, intervalSeconds } = found.value;
    const nowMs = clock.now().getTime();
    if (expiresAtMs <= nowMs) throw oauthError('expired_token');
    if (state === 'denied') throw oauthError('access_denied');
    if (decidedBy === null) {
      const isEarly = nowMs - polledAtMs < intervalSeconds * 1_000 - JITTER_MS;
      await deviceSignIns.change(found, {
        polledAtMs: nowMs,
        ...(isEarly ? { intervalSeconds: intervalSeconds + INTERVAL_SECONDS } : {}),
      });
      throw oauthError(isEarly ? 'slow_down' : 'authorization_pending');
    }
    const user = await users.get(decidedBy);
    if (user === null || !(await isAdmitted(deps, user))) throw oauthError('access_denied');
    return openSession(deps, { user, method: 'device', remoteAddress, writes: [deviceSignIns.removeWrite(found)] });
  });
}

/** Returns the sign-in that waits for a decision. Errors: `EntityNotFoundError`, `TooManyRequestsError`. */
export async function pendingDeviceSignIn(
  deps: AuthDependencies,
  principal: Principal,
  userCode: string,
): Promise<Stored<DeviceSignIn>> {
  await limitRequests(deps.deviceLimiter, `look up ${principal.id}`, LOOKUPS, TOO_MANY);
  const found = await deps.deviceSignIns.byUserCode(userCode.toUpperCase().replace(/[^A-Z]/g, ''));
  if (found !== null && found.value.state === 'pending' && found.value.expiresAtMs > deps.clock.now().getTime()) {
    return found;
  }
  throw engramError('EntityNotFoundError', 'No sign-in waits with this code: it is misspelt, used or expired.');
}

/** Lets the program sign in as the principal, or refuses it. Errors: like `pendingDeviceSignIn`. */
export async function decideDeviceSignIn(
  deps: AuthDependencies,
  principal: Principal,
  { userCode, approve }: { readonly userCode: string; readonly approve: boolean },
): Promise<void> {
  await requireNoKeyBudget(deps, principal);
  const state = approve ? 'approved' : 'denied';
  await retryOnConflict(async () => {
    const found = await pendingDeviceSignIn(deps, principal, userCode);
    await deps.deviceSignIns.change(found, { state, decidedBy: principal.id });
  });
}

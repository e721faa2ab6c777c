import { randomBytes } from 'node:crypto';
import { sha256 } from '../../services/common/kernel/hashes.ts';
import { KEY_ANNOTATIONS } from '../api/names.ts';
import { toSeconds } from '../kube-runtime/conditions.ts';
import { type Secret, secretText } from '../kube-runtime/kube-object.ts';

const API_KEY = /^[0-9a-f]{64}$/;

/** A valid key: its hash, and its text if that is known. */
interface HeldKey {
  readonly sha256: string;
  readonly text?: string;
}

/** The key in a Secret, with its annotations. */
export interface KeyState {
  readonly current: HeldKey & { readonly issuedAt: string };
  readonly previous?: HeldKey & { readonly validUntil: string };
  /** Value of the rotate-at annotation that was handled last; empty for none. */
  readonly rotatedAt: string;
}

export interface KeyPlan {
  readonly state: KeyState;
  /** Change of the key; `kept` needs no write. */
  readonly change: 'kept' | 'issued' | 'rotated' | 'replaced' | 'expired';
}

interface KeyRules {
  /** Undefined: rotated on demand only. */
  readonly intervalMs: number | undefined;
  readonly overlapMs: number;
  /** Value of the rotate-at annotation; empty for none. */
  readonly rotateAt: string;
  readonly now: Date;
  /** Replaces the key generator in tests. */
  readonly newKey?: () => string;
}

export function isApiKey(text: string | undefined): text is string {
  return text !== undefined && API_KEY.test(text);
}

/** Hash that the services store instead of the key. */
export function keySha256(text: string): string {
  return sha256(text);
}

/** Reads the key of a Secret that the operator made; null when its value is not a key. */
function keyStateOf(secret: Secret, now: Date): { readonly state: KeyState; readonly isEdited: boolean } | null {
  const text = secretText(secret, 'apiKey');
  if (!isApiKey(text)) return null;
  const noted = secret.metadata.annotations ?? {};
  const sha256 = keySha256(text);
  const issuedAt = timeOr(noted[KEY_ANNOTATIONS.issuedAt], now);
  const known = noted[KEY_ANNOTATIONS.sha256];
  const rotatedAt = noted[KEY_ANNOTATIONS.rotatedAt] ?? '';
  if (known !== undefined && known !== sha256) {
    // The edit removed the text of the former key; its hash keeps it valid.
    const previous = { sha256: known, validUntil: '' };
    return { state: { current: { sha256, text, issuedAt: toSeconds(now) }, previous, rotatedAt }, isEdited: true };
  }
  const previous = previousOf(secret, now);
  return {
    state: { current: { sha256, text, issuedAt }, ...(previous === undefined ? {} : { previous }), rotatedAt },
    isEdited: known === undefined,
  };
}

function previousOf(secret: Secret, now: Date): KeyState['previous'] {
  const noted = secret.metadata.annotations ?? {};
  const sha256 = noted[KEY_ANNOTATIONS.previousSha256];
  if (sha256 === undefined) return undefined;
  const text = secretText(secret, 'previousApiKey');
  const validUntil = timeOr(noted[KEY_ANNOTATIONS.previousValidUntil], now);
  return { sha256, validUntil, ...(isApiKey(text) && keySha256(text) === sha256 ? { text } : {}) };
}

/** Returns the next state of a key; null when the Secret has no valid key. `secret` is null before the first one is made. */
export function planKey(secret: Secret | null, rules: KeyRules): KeyPlan | null {
  const { now, rotateAt, overlapMs, intervalMs } = rules;
  const issue = (): KeyState['current'] => {
    const text = (rules.newKey ?? newKeyText)();
    return { sha256: keySha256(text), text, issuedAt: toSeconds(now) };
  };
  if (secret === null) return { state: { current: issue(), rotatedAt: rotateAt }, change: 'issued' };
  const held = keyStateOf(secret, now);
  if (held === null) return null;
  const { state, isEdited } = held;
  const validUntil = toSeconds(new Date(now.getTime() + overlapMs));
  const overlapping = (key: HeldKey): Pick<KeyState, 'previous'> =>
    overlapMs > 0 ? { previous: { ...key, validUntil } } : {};
  if (isEdited) {
    const { previous, ...rest } = state;
    return { state: { ...rest, ...(previous === undefined ? {} : overlapping(previous)) }, change: 'replaced' };
  }
  const isDue = intervalMs !== undefined && Date.parse(state.current.issuedAt) + intervalMs <= now.getTime();
  const isForced = rotateAt !== '' && rotateAt !== state.rotatedAt;
  if (isDue || isForced) {
    const { sha256, text } = state.current;
    const former = text === undefined ? { sha256 } : { sha256, text };
    return { state: { current: issue(), ...overlapping(former), rotatedAt: rotateAt }, change: 'rotated' };
  }
  if (state.previous !== undefined && Date.parse(state.previous.validUntil) <= now.getTime()) {
    const { current, rotatedAt } = state;
    return { state: { current, rotatedAt }, change: 'expired' };
  }
  return { state, change: 'kept' };
}

/** Returns the time of the next rotation or revocation; undefined for none. */
export function nextKeyTime({ current, previous }: KeyState, intervalMs: number | undefined): number | undefined {
  const times = [
    ...(intervalMs === undefined ? [] : [Date.parse(current.issuedAt) + intervalMs]),
    ...(previous === undefined ? [] : [Date.parse(previous.validUntil)]),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Hashes that must be valid, the current key first. */
export function validHashes({ current, previous }: KeyState): string[] {
  return previous === undefined ? [current.sha256] : [current.sha256, previous.sha256];
}

function newKeyText(): string {
  return randomBytes(32).toString('hex');
}

function timeOr(text: string | undefined, otherwise: Date): string {
  return text === undefined || Number.isNaN(Date.parse(text)) ? toSeconds(otherwise) : text;
}

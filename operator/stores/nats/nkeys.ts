import { createHmac } from 'node:crypto';
import { nkeys } from 'nats';

export type KeyPair = ReturnType<typeof nkeys.createAccount>;

/** `A…` and `U…` of public keys; `S` before them of seeds. */
const ROLES = { account: 0, user: 20 << 3 } as const;
const SEED = 18 << 3;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The same pair for the same secret and purpose; the secret cannot be had from it, nor a pair for another purpose. */
export function derivedKeys(role: keyof typeof ROLES, secret: string, purpose: string): KeyPair {
  const raw = createHmac('sha256', secret).update(`engram ${role} ${purpose}`).digest();
  return nkeys.fromSeed(new TextEncoder().encode(encodedSeed(ROLES[role], raw)));
}

/** As nkeys are written: five bits of kind, eight of role, 32 bytes, a check sum; in base 32 without padding. */
function encodedSeed(role: number, raw: Uint8Array): string {
  const bytes = new Uint8Array([SEED | (role >> 5), (role & 31) << 3, ...raw]);
  const sum = checkSum(bytes);
  return base32(new Uint8Array([...bytes, sum & 0xff, sum >> 8]));
}

/** CRC-16 of XMODEM. */
function checkSum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1) & 0xffff;
  }
  return sum;
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

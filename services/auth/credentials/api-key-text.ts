import { randomBytes } from 'node:crypto';
import { sha256 } from '../../common/kernel/hashes.ts';

const API_KEY = /^[0-9a-f]{64}$/;
const PREFIX_LENGTH = 8;

/** 32 random bytes as lower-case hex. */
export function newApiKeyText(): string {
  return randomBytes(32).toString('hex');
}

/** Whether a bearer credential is an API key and not a JWT. */
export function isApiKeyText(text: string): boolean {
  return API_KEY.test(text);
}

/** The hash that is stored in place of the key. */
export function apiKeyHash(text: string): string {
  return sha256(text);
}

export function apiKeyPrefix(text: string): string {
  return text.slice(0, PREFIX_LENGTH);
}

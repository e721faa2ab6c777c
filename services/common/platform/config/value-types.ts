import { isIP } from 'node:net';
import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';
import { isRecord } from '../../kernel/objects.ts';

/** Readers of one variable's text. Each says what it expects, so that a problem reads as a sentence. */

/** Reads a text; null for what is not as `expected` says. */
function reader<Value>(read: (value: string) => Value | null, expected: string): z.ZodType<Value, string> {
  return z.string().transform((value, context) => {
    const found = read(value);
    if (found !== null) return found;
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });
}

/** Reads each part of a comma list; null for one that is not as `expected` says. */
function listReader<Value>(
  read: (part: string) => Value | null,
  expected: (part: string) => string,
): z.ZodType<readonly Value[], string> {
  return list().transform((parts, context) => {
    const found: Value[] = [];
    for (const part of parts) {
      const value = read(part);
      if (value === null) {
        context.addIssue({ code: 'custom', message: expected(part) });
        return z.NEVER;
      }
      found.push(value);
    }
    return found;
  });
}

export function text(): z.ZodType<string, string> {
  return z.string();
}

/** At least this many characters: signing secrets. */
export function secretText(minimumLength: number): z.ZodType<string, string> {
  return z.string().min(minimumLength, `must have at least ${minimumLength} characters`);
}

/** Secrets as a comma list; those that hold a comma, as a JSON list. */
export function secretList(minimumLength: number): z.ZodType<readonly string[], string> {
  return reader((value) => {
    const secrets = value.trim().startsWith('[') ? jsonListOf(value) : splitList(value, ',');
    const texts = secrets.filter((secret) => typeof secret === 'string');
    const isGood = texts.length === secrets.length && texts.every((secret) => secret.length >= minimumLength);
    return isGood && texts.length > 0 ? texts : null;
  }, `must be a comma list or a JSON list of secrets with at least ${minimumLength} characters each`);
}

export function integer(range: { readonly min: number; readonly max?: number }): z.ZodType<number, string> {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  const expected =
    range.max === undefined
      ? `must be a whole number of at least ${min}`
      : `must be a whole number between ${min} and ${max}`;
  return reader((value) => {
    const number = /^[+-]?\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : null;
  }, expected);
}

export function number({ min, max }: { readonly min: number; readonly max: number }): z.ZodType<number, string> {
  return reader((value) => {
    const parsed = value.trim() === '' ? Number.NaN : Number(value);
    return parsed >= min && parsed <= max ? parsed : null;
  }, `must be a number between ${min} and ${max}`);
}

/** Seconds on the outside, milliseconds inside. */
export function secondsAsMs(range: { readonly min: number; readonly max: number }): z.ZodType<number, string> {
  return number(range).transform((seconds) => Math.round(seconds * 1000));
}

const TRUE = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'f', 'n']);

export function flag(): z.ZodType<boolean, string> {
  return reader((value) => {
    const word = value.trim().toLowerCase();
    return TRUE.has(word) || FALSE.has(word) ? TRUE.has(word) : null;
  }, 'must be true or false (also 1/0, yes/no, on/off)');
}

/**
 * The two posture variables. Other implementations take every word but `true` as false; `1` or `yes` would then open the
 * server that was meant to be closed, so what is neither `true` nor a word of false is refused.
 */
export function onlyTrue(): z.ZodType<boolean, string> {
  return reader((value) => {
    const word = value.trim().toLowerCase();
    return word === 'true' || FALSE.has(word) ? word === 'true' : null;
  }, 'must be true or false; only the word true switches it on');
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): z.ZodType<Choice, string> {
  return z
    .string()
    .transform((value) => value.trim().toLowerCase())
    .pipe(z.enum(choices as unknown as [Choice, ...Choice[]], { error: `must be one of ${choices.join(', ')}` }));
}

/** Comma list, blanks trimmed, empty parts left out. */
export function list(): z.ZodType<readonly string[], string> {
  return z.string().transform((value) => splitList(value, ','));
}

export function pathList(): z.ZodType<readonly string[], string> {
  return z.string().transform((value) => splitList(value, process.platform === 'win32' ? ';' : ':'));
}

export function listOf<const Choice extends string>(choices: readonly Choice[]): z.ZodType<readonly Choice[], string> {
  return reader(
    (value) => {
      const parts = splitList(value, ',');
      const isKnown = (part: string): part is Choice => (choices as readonly string[]).includes(part);
      return parts.length > 0 && parts.every(isKnown) ? [...new Set(parts)] : null;
    },
    `must be a list of ${choices.join(', ')}`,
  );
}

/** A key of 256 bits under a name. */
interface NamedKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

const KEY_BYTES = 32;

/** `2026:<base64 of 32 bytes>,2025:<…>`: names of letters, digits, `_` and `-`, each once. */
export function namedKeys(): z.ZodType<readonly [NamedKey, ...NamedKey[]], string> {
  return list().transform((parts, context) => {
    const keys: NamedKey[] = [];
    for (const part of parts) {
      const [, id = '', text = ''] = /^([\w-]{1,64}):([A-Za-z0-9+/_-]+={0,2})$/.exec(part) ?? [];
      const bytes = Buffer.from(text, 'base64');
      if (id === '' || bytes.length !== KEY_BYTES || keys.some((key) => key.id === id)) {
        context.addIssue({
          code: 'custom',
          message: `must list keys as name:base64, each of ${KEY_BYTES} bytes and with a name of its own; \`openssl rand -base64 ${KEY_BYTES}\` makes one`,
        });
        return z.NEVER;
      }
      keys.push({ id, bytes });
    }
    const [first, ...others] = keys;
    if (first !== undefined) return [first, ...others];
    context.addIssue({ code: 'custom', message: 'must list at least one key' });
    return z.NEVER;
  });
}

/** Origins as browsers send them: scheme, host and port, nothing after them; `*` is allowed. */
export function originList(): z.ZodType<readonly string[], string> {
  return listReader(
    (part) => (part === '*' ? part : originOf(part)),
    (part) => `must list origins like https://app.example.com, not "${part}"`,
  );
}

/** Hosts, or hosts with a port, spelled as `URL` spells them: `vllm.models.svc:8000, 10.0.0.7, [fd00::7]:8000`. */
export function hostList(): z.ZodType<readonly string[], string> {
  return listReader(hostOf, (part) => `must list hosts like models.svc or models.svc:8000, not "${part}"`);
}

/** Addresses and ranges: `10.0.0.0/8, 192.0.2.1, fd00::/8`. */
export function addressRanges(): z.ZodType<readonly string[], string> {
  return listReader(
    (part) => (isAddressRange(part) ? part : null),
    (part) => `must list addresses and ranges like 10.0.0.0/8, not "${part}"`,
  );
}

export function httpUrl(): z.ZodType<string, string> {
  return reader(
    (value) => (originOf(value) === null ? null : value.trim().replace(/\/+$/, '')),
    'must be an http or https URL',
  );
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `536870912`, `512MB`, `512 MiB`, `2g`: powers of 1024. */
export function bytes({ min }: { readonly min: number }): z.ZodType<number, string> {
  return reader((value) => {
    const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(value.trim());
    const size =
      match === null ? Number.NaN : Math.floor(Number(match[1]) * (UNITS[match[2]?.toLowerCase() ?? ''] ?? 1));
    return size >= min ? size : null;
  }, `must be a size of at least ${min} bytes, like 536870912, 512MB or 2GB`);
}

function splitList(value: string, separator: string): string[] {
  return value
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function hostOf(text: string): string | null {
  const [, host = '', port] = /^([\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const url = host === '' ? null : URL.parse(`http://${host}`);
  if (url === null || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return null;
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return bits > 0 && isPrefix && more.length === 0;
}

/** A JSON object with anything in it. */
export function jsonObject(): z.ZodType<Readonly<Record<string, unknown>>, string> {
  return reader((value) => {
    const parsed = parseJson(value);
    return isRecord(parsed) ? parsed : null;
  }, 'must be a JSON object');
}

/** Empty for what is no list. */
function jsonListOf(text: string): readonly unknown[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value : [];
}

function originOf(value: string): string | null {
  if (!URL.canParse(value.trim())) return null;
  const url = new URL(value.trim());
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : null;
}

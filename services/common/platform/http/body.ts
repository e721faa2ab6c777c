import { setImmediate as nextTurn } from 'node:timers/promises';
import { findExcess } from '../../kernel/json.ts';
import { type BodyLimit, type BodySource, type BodyTimes, readAll } from './body-source.ts';
import { collect, EMPTY_FORM, FORM_LIMITS, type FormBody } from './form-body.ts';
import { HttpError } from './http-error.ts';
import { findJsonFault } from './json-syntax.ts';
import { readMultipart } from './multipart-body.ts';
import { malformedForm } from './request-faults.ts';
import type { BodySpec } from './route.ts';
import { invalidJson, tooManyValues } from './validation-error.ts';

/** A body as it came, parsed by its content type but not yet checked. */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  /** Neither JSON nor a form. */
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'form'; readonly form: FormBody }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export interface BodySettings extends BodyTimes {
  readonly spoolDirectory: string;
  readonly uploadLimitBytes: number;
  readonly jsonLimitBytes: number;
  /** Limit of any body, whatever the other two allow. */
  readonly anyLimitBytes?: number;
  /** Default `MAX_JSON_VALUES`. */
  readonly maxJsonValues?: number;
}

type BodyFormat = 'json' | 'multipart' | 'urlencoded' | 'other';

/** Returns the format that the client declared; JSON without one, as the contract's server does. */
export function formatOf(source: BodySource): BodyFormat {
  const type = (source.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) return 'json';
  if (type === 'multipart/form-data') return 'multipart';
  return type === 'application/x-www-form-urlencoded' ? 'urlencoded' : 'other';
}

/** Throws 400, 408, 413 or 415; malformed JSON as `RequestValidationError`. */
export async function receiveBody(
  source: BodySource,
  kind: BodySpec<unknown>['kind'],
  settings: BodySettings,
): Promise<ReceivedBody> {
  refuseEncodings(source);
  if (kind === 'bytes') {
    const limit = limitOf(settings, settings.jsonLimitBytes, 'ENGRAM_JSON_LIMIT_BYTES');
    return { kind, bytes: source.isAbsent ? new Uint8Array() : await readAll(source, limit) };
  }
  const format = formatOf(source);
  const isForm = format === 'multipart' || format === 'urlencoded';
  if (kind === 'form' && !isForm) return { kind: 'form', form: EMPTY_FORM };
  if (source.isAbsent) return kind === 'any' && isForm ? { kind: 'form', form: EMPTY_FORM } : { kind: 'none' };
  if (kind !== 'json' && format === 'multipart') {
    const limit = limitOf(settings, settings.uploadLimitBytes, 'ENGRAM_UPLOAD_LIMIT_BYTES');
    const form = await readMultipart(source, { limit, spoolDirectory: settings.spoolDirectory });
    return { kind: 'form', form };
  }
  const isUrlencoded = kind !== 'json' && format === 'urlencoded';
  const most = isUrlencoded ? Math.min(settings.jsonLimitBytes, URLENCODED_LIMIT_BYTES) : settings.jsonLimitBytes;
  const bytes = await readAll(source, limitOf(settings, most, 'ENGRAM_JSON_LIMIT_BYTES'));
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (isUrlencoded) return { kind: 'form', form: urlencodedForm(text) };
  if (text === '') return { kind: 'none' };
  return format === 'json'
    ? { kind: 'json', value: await parseJson(text, settings.maxJsonValues) }
    : { kind: 'raw', text };
}

/** Decoding takes many times as long as that of JSON; a longer text comes as JSON or as a file. */
const URLENCODED_LIMIT_BYTES = 4 * 1024 * 1024;

/** Reading more takes long enough for others to notice. A document comes as one text, whatever its length. */
const MAX_JSON_VALUES = 50_000;

/** Longer texts are read with turns for others between the passes. */
const LONG_TEXT = 1024 * 1024;

function limitOf({ anyLimitBytes }: BodySettings, limitBytes: number, setting: string): BodyLimit {
  if (anyLimitBytes === undefined || anyLimitBytes >= limitBytes) return { limitBytes, setting };
  return { limitBytes: anyLimitBytes, setting: null };
}

async function parseJson(text: string, maxValues = MAX_JSON_VALUES): Promise<unknown> {
  const pause = text.length > LONG_TEXT ? nextTurn : () => undefined;
  await pause();
  // Before it is parsed: what the values take, in time and memory, is what is limited.
  const excess = findExcess(text, maxValues);
  if (excess?.limit === 'depth') throw invalidJson({ offset: excess.offset, reason: 'Nested too deeply' }, text);
  if (excess?.limit === 'values') throw tooManyValues(maxValues);
  await pause();
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson(findJsonFault(text), text);
  }
}

function urlencodedForm(text: string): FormBody {
  const parts = text.split('&', FORM_LIMITS.fields + 1);
  if (parts.length > FORM_LIMITS.fields) {
    throw malformedForm(`Too many fields. Maximum number of fields is ${FORM_LIMITS.fields}.`);
  }
  const pairs = new URLSearchParams(text);
  return { ...EMPTY_FORM, fields: collect(pairs) };
}

/** Decompressing would undo the size limits. */
function refuseEncodings(source: BodySource): void {
  const encoding = source.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpError(415, { detail: `Content-Encoding ${encoding} is not accepted; send the body as it is.` });
  }
}

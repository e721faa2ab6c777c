/** Replaces a secret wherever one would be printed. */
export const MASK = '**********';

const SECRET_NAME =
  /(^|_)(password|passwd|passphrase|secret|token|api_?key|authorization|cookie|credentials?|private_key|signing_key|connection_string)$/;

/** Nearly all names fall through here: the log asks for every field of every line. */
const SUSPICIOUS = /pass|secret|token|key|authorization|cookie|credential|connection/i;

/** Names like `password`, `llmApiKey`, `X-Api-Key` or `access_token`; not `max_tokens` or `token_count`. */
export function isSecretName(name: string): boolean {
  if (!SUSPICIOUS.test(name)) return false;
  return SECRET_NAME.test(
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll('-', '_')
      .toLowerCase(),
  );
}

interface RedactLimits {
  /** Objects nested deeper are printed as `…`. */
  readonly depth: number;
  /** Longer texts are cut. */
  readonly textLength: number;
  /** Limit of the whole copy, and of others that share it. Default: no limit. */
  readonly budget?: RedactBudget;
}

/** Characters that may still be printed; each value counts for some. */
export interface RedactBudget {
  left: number;
}

/** About what a number, or the punctuation around a value, takes. */
const VALUE_COST = 8;

const LIST_LENGTH = 1000;
const LOG_LIMITS: RedactLimits = { depth: 6, textLength: 4_000 };

/** A printable copy: secrets masked by name, depth and text length bounded, so that hostile input cannot blow up a line. */
export function redact(value: unknown, limits: RedactLimits = LOG_LIMITS): unknown {
  if (limits.budget !== undefined) {
    if (limits.budget.left <= 0) return '…';
    limits.budget.left -= VALUE_COST;
  }
  if (typeof value === 'string') return cutWithin(value, limits);
  if (value === null || typeof value !== 'object') return typeof value === 'bigint' ? String(value) : value;
  if (limits.depth <= 0) return '…';
  const inner = { ...limits, depth: limits.depth - 1 };
  if (Array.isArray(value)) return redactList(value, inner);
  if (value instanceof Error) return describeError(value, inner.depth);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    if (name === '__proto__') continue;
    if (limits.budget !== undefined) {
      if (limits.budget.left <= 0) {
        copy['…'] = '…';
        break;
      }
      limits.budget.left -= name.length;
    }
    copy[name] = isSecretName(name) && item !== null && item !== undefined && item !== '' ? MASK : redact(item, inner);
  }
  return copy;
}

function redactList(list: readonly unknown[], limits: RedactLimits): readonly unknown[] {
  const { budget } = limits;
  const shown: unknown[] = [];
  for (const item of list.slice(0, LIST_LENGTH)) {
    if (budget !== undefined && budget.left <= 0) break;
    shown.push(redact(item, limits));
  }
  return list.length > shown.length ? [...shown, `… (${list.length} items)`] : shown;
}

/** Secrets that stand inside a text: `Authorization: Bearer …`, `"password": "…"`, `token=…`, provider keys. */
export function redactText(text: string): string {
  return text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`)
    .replaceAll(/\b(sk|pk|ghp|xox[abp])[-_][\w-]{8,}/g, MASK)
    .replaceAll(SECRET_PAIR, `$1$2$1$3"${MASK}"`);
}

const SECRET_PAIR =
  /(["']?)([\w-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|authorization|cookie|credentials?|private[_-]?key|signing[_-]?key))\1(\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&}"']+)/gi;

/** Type, message, stack and causes of an error. */
export function describeError(error: unknown, depth = 4): unknown {
  if (!(error instanceof Error)) return redact(error, { depth: 2, textLength: 1_000 });
  const { code, wireName } = error as { code?: unknown; wireName?: unknown };
  return {
    type: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof wireName === 'string' ? { wireName } : {}),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined || depth <= 0 ? {} : { cause: describeError(error.cause, depth - 1) }),
  };
}

function cutWithin(text: string, { textLength, budget }: RedactLimits): string {
  if (budget === undefined) return cut(text, textLength);
  const shown = cut(text, Math.max(0, Math.min(textLength, budget.left)));
  budget.left -= shown.length;
  return shown;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`;
}

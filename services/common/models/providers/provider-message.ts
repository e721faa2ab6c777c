/** Message of a provider's error body, in any of the known shapes. */
export interface ProviderMessage {
  /** The provider's own sentence, without keys and account names. */
  readonly sentence: string;
  /** A budget is spent: nothing helps but money (cognify-improve.md §6.5). */
  readonly isBudget: boolean;
  /** A quota or credit of the account is spent. */
  readonly isQuota: boolean;
  readonly isContextLength: boolean;
  readonly isContentPolicy: boolean;
}

const MAX_SENTENCE = 300;

/** Whole sentences of proxies, not fragments: a text about budgets must not look like a spent one. */
const BUDGET_SHAPES = [
  /Budget has been exceeded!.{0,200}?Max budget:\s*[\d.]+/is,
  /ExceededBudget:.{0,200}?Budget\s*=\s*[\d.]+/is,
  /(?:LiteLLM Virtual Key|End User):.{0,200}?exceeded budget for model=\S+/is,
];
const QUOTA =
  /insufficient_quota|quota_exceeded|exceeded your current quota|billing hard limit|credit balance is too low|out of credits/i;
const CONTEXT_LENGTH = /context_length_exceeded|maximum context length|prompt is too long|too many tokens/i;
const CONTENT_POLICY = /content_policy|content_filter|content management policy|responsible ai/i;

export function readProviderMessage(body: string | undefined, fallback: string): ProviderMessage {
  const { type, code, message } = partsOf(body);
  const text = message ?? fallback;
  const marks = `${type} ${code} ${text}`;
  const isBudget = type === 'budget_exceeded' || BUDGET_SHAPES.some((shape) => shape.test(text));
  return {
    sentence: scrub(text),
    isBudget,
    isQuota: !isBudget && QUOTA.test(marks),
    isContextLength: CONTEXT_LENGTH.test(marks),
    isContentPolicy: CONTENT_POLICY.test(`${type} ${code} ${text}`),
  };
}

/** OpenAI and Anthropic `{error:{type,message}}`, Gemini the same in a list, Ollama `{error:"…"}`, others `{detail}` or `{message}`. */
function partsOf(body: string | undefined): {
  readonly type: string;
  readonly code: string;
  readonly message: string | undefined;
} {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body ?? '');
  } catch {
    return { type: '', code: '', message: undefined };
  }
  const outer = recordOf(Array.isArray(parsed) ? parsed[0] : parsed);
  const inner = recordOf(outer['error']);
  const text = [inner['message'], outer['error'], outer['message'], outer['detail']].find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
  return {
    type: String(inner['type'] ?? outer['type'] ?? ''),
    code: String(inner['code'] ?? outer['code'] ?? ''),
    message: text,
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Providers repeat keys and account names in their messages. */
function scrub(text: string): string {
  return text
    .slice(0, MAX_SENTENCE)
    .toWellFormed()
    .replaceAll(
      /\b(Virtual Key|End User|User|Team|Project|Organization|Tag|key_alias)(\s*[:=]\s*)[^\s,;)]+/gi,
      '$1$2<redacted>',
    )
    .replaceAll(/\b(sk|pk|rk|key|org|proj|req|user)[-_][\w-]{6,}/gi, '<redacted>')
    .replaceAll(/\b[0-9a-f]{32,}\b/gi, '<redacted>');
}

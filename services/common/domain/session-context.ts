/**
 * Lessons of a session: short statements that guide later answers (cognify-improve.md §3.5, search-recall.md §4.6).
 * A profile is a kind of reader: `qa` answers questions, `agent` works with tools.
 */
export const CONTEXT_SECTIONS = {
  qa: ['goals', 'rules', 'preferences', 'lessons_learned'],
  agent: ['tool_rules', 'workflow_state', 'success_patterns', 'failure_lessons', 'environment_facts'],
} as const;
export type ContextProfile = keyof typeof CONTEXT_SECTIONS;
export type ContextSection = (typeof CONTEXT_SECTIONS)[ContextProfile][number];

export interface NewContextRow {
  readonly profile: ContextProfile;
  readonly section: ContextSection;
  readonly content: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** Feedback and steps that it was drawn from. */
  readonly feedbackIds?: readonly string[];
  readonly traceIds?: readonly string[];
}

export interface ContextRow extends NewContextRow {
  /** UUID. */
  readonly id: string;
  readonly createdAt: string;
  readonly feedbackIds: readonly string[];
  readonly traceIds: readonly string[];
  readonly helpfulCount: number;
  readonly harmfulCount: number;
  readonly priority: number;
  /** When it was last shown in a turn. */
  readonly lastServedAt: string | null;
}

/** Feedback of a user on earlier answers, as the analysis of a turn found it. */
export interface SessionFeedback {
  readonly id: string;
  readonly createdAt: string;
  readonly rawText: string;
  readonly referencedQaIds: readonly string[];
  /** 1 to 5. */
  readonly referencedQaRating: number | null;
  readonly influencingContextIds: readonly string[];
}

const MIN_CONFIDENCE = 0.75;
export const MAX_CONTEXT_CHARACTERS = 280;
const MAX_NET_HELPFULNESS = 3;

export function isProfile(text: string): text is ContextProfile {
  return Object.hasOwn(CONTEXT_SECTIONS, text);
}

/** Sections of one profile mean nothing in the other. */
export function isSectionOf(profile: ContextProfile, section: string): section is ContextSection {
  return (CONTEXT_SECTIONS[profile] as readonly string[]).includes(section);
}

/**
 * The row as it is kept, or null for one that is not: empty, of an unknown section, or too uncertain. What is longer than
 * it may be is cut at a word.
 */
export function admitted(row: NewContextRow): NewContextRow | null {
  const content = cutAtWord(collapsed(row.content), MAX_CONTEXT_CHARACTERS);
  if (content === '' || !isSectionOf(row.profile, row.section)) return null;
  if (!(row.confidence >= MIN_CONFIDENCE && row.confidence <= 1)) return null;
  return { ...row, content };
}

/** Rows of one section with equal normalised contents are one row. */
export function normalisedContent(content: string): string {
  return collapsed(content).toLowerCase();
}

/** May be shown, and counts as a preference: no user rated it harmful. */
export function isUsable(row: ContextRow): boolean {
  return row.harmfulCount === 0 && row.confidence >= MIN_CONFIDENCE;
}

/** May become a lasting lesson: not found harmful more often than helpful. */
export function isDistillable(row: ContextRow): boolean {
  return netHelpfulness(row) >= 0 && row.confidence >= MIN_CONFIDENCE;
}

export function netHelpfulness({ helpfulCount, harmfulCount }: ContextRow) {
  return Math.max(-MAX_NET_HELPFULNESS, Math.min(MAX_NET_HELPFULNESS, helpfulCount - harmfulCount));
}

/** Cuts before it collapses: a megabyte of blanks costs no more than what is kept of it. */
function collapsed(text: string): string {
  return text
    .slice(0, 8 * MAX_CONTEXT_CHARACTERS)
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

/** At most `limit` characters, without half a word (unless the word alone is longer) or half a surrogate pair. */
export function cutAtWord(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit);
  const blank = cut.lastIndexOf(' ');
  const kept = blank > limit / 2 ? cut.slice(0, blank) : cut;
  return kept.toWellFormed().replace(/\uFFFD$/u, '');
}

/** Feedback of one message on earlier turns, and the lessons of those. */
export interface TurnNote {
  readonly feedback: {
    /** UUID of the caller: the same one is noted once. */
    readonly id: string;
    readonly text: string;
    /** The answer that is spoken of. */
    readonly qaId: string;
    /** 1 to 5; null: not judged. */
    readonly rating: number | null;
    /** Guidance that was shown with it. */
    readonly contextIds: readonly string[];
  } | null;
  /** Ids of guidance that was used. */
  readonly contextRatings: Readonly<Record<string, 'helpful' | 'harmful'>>;
  readonly lessons: readonly NewContextRow[];
  /** Guidance that stood in the prompt. */
  readonly servedIds: readonly string[];
}

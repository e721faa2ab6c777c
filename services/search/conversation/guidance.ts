import {
  CONTEXT_SECTIONS,
  type ContextProfile,
  type ContextRow,
  type ContextSection,
  isUsable,
  netHelpfulness,
} from '../../common/domain/session-context.ts';

/** Priorities of sections (cognify-improve.md §3.9). */
const SECTION_PRIORITY: Readonly<Record<ContextSection, number>> = {
  rules: 3,
  goals: 2,
  preferences: 1,
  lessons_learned: 1,
  failure_lessons: 3,
  tool_rules: 3,
  environment_facts: 2,
  workflow_state: 2,
  success_patterns: 1,
};

/** Maximum characters of statements, without headings. */
const SECTION_BUDGET = 400;
const TOTAL_BUDGET = 1200;

const TITLE = '## Active session guidance';
const NOTE = 'Learned earlier in this session. Within a section later items win over earlier ones.';

export interface Guidance {
  /** Markdown for a prompt, or as a result of recall. */
  readonly text: string;
  /** Ids of the rows in the text. */
  readonly ids: readonly string[];
}

/**
 * Returns the guidance that matches a query best, within the budgets, or null. Rows are selected by score and shown by
 * section and age; rows of other profiles and unusable ones are left out.
 */
export function guidanceFor(rows: readonly ContextRow[], profile: ContextProfile, query: string): Guidance | null {
  const asked = tokensOf(query);
  const scored = rows
    .filter((row) => row.profile === profile && isUsable(row))
    .map((row) => ({ row, score: scoreOf(row, asked) }))
    .sort((left, right) => right.score - left.score || (left.row.id < right.row.id ? -1 : 1));
  const left = new Map<ContextSection, number>();
  const chosen: ContextRow[] = [];
  let total = TOTAL_BUDGET;
  for (const { row } of scored) {
    const budget = left.get(row.section) ?? SECTION_BUDGET;
    const length = row.content.length;
    if (length > budget || length > total) continue;
    left.set(row.section, budget - length);
    total -= length;
    chosen.push(row);
  }
  return chosen.length === 0 ? null : { text: render(chosen, profile), ids: chosen.map((row) => row.id) };
}

/** 10·section + 5·confidence + 4·overlap + 2·net helpfulness + priority; the newer row wins a tie. */
function scoreOf(row: ContextRow, asked: ReadonlySet<string>): number {
  const words = tokensOf(row.content);
  let shared = 0;
  for (const word of words) if (asked.has(word)) shared++;
  const overlap = words.size === 0 ? 0 : shared / words.size;
  const seconds = Date.parse(row.createdAt) / 1000 || 0;
  return (
    10 * SECTION_PRIORITY[row.section] +
    5 * row.confidence +
    4 * overlap +
    2 * netHelpfulness(row) +
    row.priority +
    (0.5 * seconds) / 1e12
  );
}

/** Characters of a query that are compared. */
const MAX_QUERY_CHARACTERS = 4000;

function tokensOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .slice(0, MAX_QUERY_CHARACTERS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,}/gu) ?? [],
  );
}

function render(rows: readonly ContextRow[], profile: ContextProfile): string {
  const sections = CONTEXT_SECTIONS[profile].flatMap((section) => {
    const shown = rows
      .filter((row) => row.section === section)
      .toSorted((left, right) => (left.createdAt < right.createdAt ? -1 : left.createdAt > right.createdAt ? 1 : 0));
    if (shown.length === 0) return [];
    return [[`### ${titleOf(section)}`, ...shown.map((row) => `- [${timeOf(row)}] ${row.content}`)].join('\n')];
  });
  return [TITLE, NOTE, ...sections].join('\n');
}

function titleOf(section: ContextSection): string {
  return `${section.charAt(0).toUpperCase()}${section.slice(1).replaceAll('_', ' ')}`;
}

/** HH:MM:SS, UTC. */
function timeOf({ createdAt }: ContextRow): string {
  const at = new Date(createdAt);
  return Number.isNaN(at.getTime()) ? '--:--:--' : at.toISOString().slice(11, 19);
}

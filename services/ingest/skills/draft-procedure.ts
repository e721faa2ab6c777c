import { hasError, type SkillRun, type SkillText } from '../../common/domain/skill.ts';

/** A proposed procedure and its reason. */
export interface Draft {
  readonly procedure: string;
  readonly rationale: string;
  /** 0 to 1. */
  readonly confidence: number;
}

export interface DraftMaterial {
  readonly skill: Pick<SkillText, 'name' | 'procedure'>;
  /** Newest first, at least one. */
  readonly runs: readonly SkillRun[];
  /** Every run of the skill that is recorded. */
  readonly recordedRuns: number;
  readonly threshold: number;
}

const SECTION = '## Known failures';
const MAX_GROUPS = 20;
const MAX_MESSAGES = 3;
const MAX_NOTED_TOOLS = 5;
const MAX_QUOTE_LENGTH = 200;

/** Runs that failed in the same way. */
interface Failure {
  readonly label: string;
  readonly runs: readonly SkillRun[];
}

/**
 * A procedure that knows how it failed, made by rules: each step whose tool failed is followed by a note, and a section tells
 * the failures, most frequent first, beside those that it told before. Texts of runs are quoted, cut and kept to one line.
 */
export function draftProcedure({ skill, runs, recordedRuns, threshold }: DraftMaterial): Draft {
  const failures = failuresOf(runs);
  const tools = failedTools(runs);
  const { before, bullets } = splitSection(skill.procedure);
  const noted = withStepNotes(before, tools, runs.length);
  const told = failures.map((failure) => describe(failure, runs.length));
  const labels = new Set(failures.map(({ label }) => bold(label)));
  const kept = bullets.filter((bullet) => ![...labels].some((label) => bullet.startsWith(`- ${label}`)));
  const section = [SECTION, '', ...[...told, ...kept].slice(0, MAX_GROUPS)].join('\n');
  return {
    procedure: withHeading(skill.name, `${noted.trimEnd()}\n\n${section}`),
    rationale: rationaleOf({ runs, recordedRuns, threshold, failures, tools }),
    confidence: confidenceOf(failures, runs.length),
  };
}

/** A procedure is a document: it begins with a heading. */
export function withHeading(name: string, procedure: string): string {
  const text = procedure.trim();
  return text.startsWith('#') ? text : `# ${name}\n\n${text}`;
}

/** Most frequent first; of equals the newest. */
function failuresOf(runs: readonly SkillRun[]): readonly Failure[] {
  const groups = Map.groupBy(runs, labelOf);
  return [...groups].map(([label, own]) => ({ label, runs: own })).toSorted((a, b) => b.runs.length - a.runs.length);
}

function labelOf(run: SkillRun): string {
  if (run.errorType.trim() !== '') return oneLine(run.errorType, 80);
  return hasError(run) ? 'Error' : 'Low score';
}

/** Tools that failed → in how many of the runs; most often first. */
function failedTools(runs: readonly SkillRun[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { toolTrace } of runs) {
    const failed = new Set(toolTrace.filter(({ success }) => !success).map(({ toolName }) => toolName));
    for (const tool of failed) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  }
  return new Map([...counts].toSorted((a, b) => b[1] - a[1]));
}

function describe({ label, runs }: Failure, total: number): string {
  const messages = distinct(runs.map(reasonOf).filter((reason) => reason !== ''));
  const steps = distinct(runs.flatMap(failedStepsOf));
  const task = runs.find(({ taskText }) => taskText.trim() !== '')?.taskText;
  const parts = [
    `${bold(label)} in ${runs.length} of ${total} failing runs.`,
    ...(messages.length === 0 ? [] : [`Reason: ${messages.map(quoted).join('; ')}.`]),
    ...(steps.length === 0
      ? []
      : [`Failed at ${steps.join('; ')}: check its input before the call and its output after it.`]),
    ...(task === undefined ? [] : [`For example at the task ${quoted(task)}.`]),
  ];
  return `- ${parts.join(' ')}`;
}

function reasonOf(run: SkillRun): string {
  if (run.errorMessage.trim() !== '') return oneLine(run.errorMessage);
  const failed = run.toolTrace.find(({ success, toolOutput }) => !success && (toolOutput ?? '').trim() !== '');
  return oneLine(failed?.toolOutput ?? run.resultSummary);
}

/** The first tool that failed in the run, with the one that ran before it. */
function failedStepsOf({ toolTrace }: SkillRun): readonly string[] {
  const at = toolTrace.findIndex(({ success }) => !success);
  const failed = toolTrace[at];
  if (failed === undefined) return [];
  const previous = toolTrace[at - 1];
  return [`${code(failed.toolName)}${previous === undefined ? '' : ` after ${code(previous.toolName)}`}`];
}

const STEP_NOTE = /^[ \t]*- Check: `[^`]*` failed here in \d+ of \d+ failing runs\.$/u;

function withStepNotes(procedure: string, tools: ReadonlyMap<string, number>, total: number): string {
  const lines = procedure.split('\n').filter((line) => !STEP_NOTE.test(line));
  for (const [tool, count] of [...tools].slice(0, MAX_NOTED_TOOLS)) {
    const at = stepOf(lines, tool);
    if (at === -1) continue;
    const indent = (/^[ \t]*/u.exec(lines[at] ?? '')?.[0] ?? '').slice(0, 12);
    lines.splice(at + 1, 0, `${indent}   - Check: ${code(tool)} failed here in ${count} of ${total} failing runs.`);
  }
  return lines.join('\n');
}

/** The first line outside of code blocks and headings that names the tool; -1: none. No procedure writes out a name that long. */
function stepOf(lines: readonly string[], tool: string): number {
  if (tool.length > MAX_QUOTE_LENGTH) return -1;
  const escaped = RegExp.escape(tool);
  const name = new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'u');
  let isCode = false;
  return lines.findIndex((line) => {
    if (/^\s*(?:```|~~~)/u.test(line)) isCode = !isCode;
    return !isCode && !/^\s*(?:```|~~~|#)/u.test(line) && name.test(line);
  });
}

/** The section that an earlier draft wrote ends with the next heading. */
function splitSection(procedure: string): { readonly before: string; readonly bullets: readonly string[] } {
  const lines = procedure.split('\n');
  const start = lines.findIndex((line) => line.trim() === SECTION);
  if (start === -1) return { before: procedure, bullets: [] };
  const length = lines.slice(start + 1).findIndex((line) => /^#{1,2}\s/u.test(line));
  const end = length === -1 ? lines.length : start + 1 + length;
  return {
    before: [...lines.slice(0, start), ...lines.slice(end)].join('\n'),
    bullets: lines.slice(start + 1, end).filter((line) => line.startsWith('- ')),
  };
}

function rationaleOf(found: {
  readonly runs: readonly SkillRun[];
  readonly recordedRuns: number;
  readonly threshold: number;
  readonly failures: readonly Failure[];
  readonly tools: ReadonlyMap<string, number>;
}): string {
  const { runs, recordedRuns, threshold, failures, tools } = found;
  const kinds = failures.map(({ label, runs: own }) => `${label} (${own.length})`).join(', ');
  const steps = [...tools].map(([tool, count]) => `${code(tool)} (${count})`).join(', ');
  return [
    `Made from ${runs.length} of ${recordedRuns} recorded runs, which had an error or scored below ${threshold}: ${kinds}.`,
    ...(steps === '' ? [] : [`Tools that failed: ${steps}.`]),
  ].join(' ');
}

/** Grows with the number of failing runs and with how far they agree; one run alone tells little. */
function confidenceOf(failures: readonly Failure[], total: number): number {
  const agreement = (failures[0]?.runs.length ?? 0) / total;
  return Math.round(100 * agreement * (total / (total + 2))) / 100;
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].slice(0, MAX_MESSAGES);
}

function bold(label: string): string {
  return `**${label.replaceAll('*', '')}**`;
}

function code(name: string): string {
  return `\`${oneLine(name, 80)}\``;
}

function quoted(text: string): string {
  return `"${oneLine(text).replaceAll('"', "'")}"`;
}

/** Cut, in one line, without what would open code in Markdown. */
function oneLine(text: string, length = MAX_QUOTE_LENGTH): string {
  const line = text
    .slice(0, 4 * length)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s`]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= length
    ? line
    : `${characters
        .slice(0, length - 1)
        .join('')
        .trimEnd()}…`;
}

import type { QaEntry } from '../../common/domain/session.ts';
import { type ContextRow, cutAtWord, MAX_CONTEXT_CHARACTERS } from '../../common/domain/session-context.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import { names } from '../../common/text/language/names.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { tokenizeQuery } from '../../common/text/language/tokenize.ts';
import { addressesReader, MAX_READ, plainSentences, type StatementKind, statementsOf } from './statements.ts';

/** A statement of a session that may become a lesson. */
export interface Candidate {
  /** Id of the context row, or `<turn id>/<position>`. */
  readonly id: string;
  /** Id of the context row; null for a statement of a turn. */
  readonly row: string | null;
  /** `<profile>/<section>` of a row, else the kind of statement. */
  readonly origin: string;
  readonly text: string;
  readonly confidence: number;
  readonly at: string;
  /** Reason to keep it, as a clause. */
  readonly why: string;
}

const WHY: Readonly<Record<StatementKind | 'confirmed', string>> = {
  preference: 'stated by the user as a preference',
  rule: 'asked for by the user',
  correction: 'corrected by the user',
  fact: 'stated by the user',
  confirmed: 'confirmed by the user',
};

/** Sections that are only valid during the session. */
const TEMPORARY_SECTIONS: ReadonlySet<string> = new Set(['goals', 'workflow_state']);
/** Minimum confidence of an agent's row: a single observation may be chance. */
const MIN_AGENT_CONFIDENCE = 0.9;

/** Whether a row may become a lesson without a model that judges it. */
export function isLasting({ profile, section, confidence }: ContextRow): boolean {
  return !TEMPORARY_SECTIONS.has(section) && (profile === 'qa' || confidence >= MIN_AGENT_CONFIDENCE);
}

export function candidateOfRow({ id, profile, section, content, confidence, createdAt }: ContextRow): Candidate {
  const base = { id, row: id, origin: `${profile}/${section}`, confidence, at: createdAt };
  return { ...base, text: content, why: `learned in the session as ${section.replaceAll('_', ' ')}` };
}

/** Ratings of at least `CONFIRMS` confirm an answer; ratings up to `REJECTS` reject it. */
const CONFIRMS = 4;
const REJECTS = 2;
const MAX_QUESTION = 120;
const MAX_ANSWER = 2_000;

/**
 * Returns the lasting statements of a turn: what the user stated, corrected and confirmed, but no claims of the answer alone.
 * `rated`: the turn is read again because of new feedback; its question was read before.
 */
export async function candidatesOfTurn(
  extractor: Extractor | null,
  turn: QaEntry,
  { rated, context }: { readonly rated: boolean; readonly context: ModelCallContext },
): Promise<readonly Candidate[]> {
  const said = rated ? [] : await stated(extractor, turn, context);
  return [...said, ...corrected(turn), ...confirmed(turn)].map(({ kind, text, confidence }, at) => ({
    id: `${turn.id}/${at}`,
    row: null,
    origin: kind,
    at: turn.time,
    why: WHY[kind],
    text: cutAtWord(text, 2 * MAX_CONTEXT_CHARACTERS),
    confidence,
  }));
}

interface Said {
  readonly kind: StatementKind | 'confirmed';
  readonly text: string;
  readonly confidence: number;
}

/** A longer question is a pasted text, whose content is not a statement of the user. */
const MAX_STATED = 1_000;

/** Returns the statements of a question: by their wording, and sentences that relate named things. */
async function stated(extractor: Extractor | null, { question }: QaEntry, context: ModelCallContext) {
  const found: readonly Said[] = statementsOf(question);
  const known = found.map(({ text }) => text.toLowerCase());
  const plain = plainSentences(question).filter((text) => !known.some((said) => text.toLowerCase().includes(said)));
  if (plain.length === 0 || question.length > MAX_STATED) return found;
  const facts = extractor === null ? plain.filter(namesSomething) : await relatingSentences(extractor, plain, context);
  return [...found, ...facts.map((text) => ({ kind: 'fact' as const, text, confidence: 0.8 }))];
}

/** Whether a sentence names something; the curator judges whether it states a fact. */
function namesSomething(text: string): boolean {
  return names(text).some(({ isUncertain, kind }) => !isUncertain && kind !== 'quantity');
}

/** Returns the sentences in which the extractor finds a relation. */
async function relatingSentences(extractor: Extractor, plain: readonly string[], context: ModelCallContext) {
  const input = { text: plain.join('\n'), documentName: '', headings: [], knownNames: [] };
  const { relations } = await extractor.extract(input, context);
  const evidence = new Set(relations.map((relation) => relation.evidence.replaceAll(/\s+/gu, ' ').trim()));
  return plain.filter((text) => evidence.has(text));
}

/** Returns the corrections in the feedback on an answer. */
function corrected({ question, feedbackText, feedbackScore }: QaEntry): readonly Said[] {
  if (feedbackText === null) return [];
  const statements = statementsOf(feedbackText);
  if (statements.length > 0) return statements.map((statement) => inQuestion(question, statement));
  if (feedbackScore === null || feedbackScore > REJECTS) return [];
  const [first] = plainSentences(feedbackText);
  if (first === undefined || first.split(' ').length < 3) return [];
  return [inQuestion(question, { kind: 'correction', text: first, confidence: 0.85 })];
}

/** Adds the question to a correction, which is not understood without it. */
function inQuestion(question: string, said: Said): Said {
  const asked = oneLine(question, MAX_QUESTION);
  if (said.kind !== 'correction' || asked === '' || addressesReader(asked)) return said;
  return { ...said, text: `Asked "${asked}": ${said.text}` };
}

/** Returns the first sentence of an answer that the user confirmed, with the question unless it stands alone. */
function confirmed({ question, answer, feedbackScore }: QaEntry): readonly Said[] {
  if (feedbackScore === null || feedbackScore < CONFIRMS) return [];
  const asked = oneLine(question, MAX_QUESTION);
  if (!/[?？]/u.test(question.slice(0, MAX_READ)) || addressesReader(asked)) return [];
  const [told = ''] = sentences(answer.slice(0, MAX_ANSWER)).map((sentence) => oneLine(sentence.text, MAX_READ));
  const first = QUOTED.exec(told)?.[1] ?? told;
  if (first === '' || first.length > MAX_CONTEXT_CHARACTERS || /[?？]$/u.test(first)) return [];
  if (addressesReader(first) || KNOWS_NOTHING.test(first)) return [];
  const terms = new Set(tokenizeQuery(asked));
  const shared = new Set(tokenizeQuery(first).filter((term) => terms.has(term))).size;
  const standsAlone = shared >= 2 && first.split(' ').length >= 4;
  const text = standsAlone ? first : `Asked "${asked}": ${first}`;
  return [{ kind: 'confirmed', text, confidence: feedbackScore === 5 ? 0.9 : 0.8 }];
}

/** Form of quotes in answers without a model: the sentence and the name of its document. */
const QUOTED = /^"(.+)"(?: \([^()]*\))?$/u;
const KNOWS_NOTHING =
  /\b(?:don(?:'|’)?t|do not|does not|cannot|can(?:'|’)?t|unable to|no)\b.{0,30}\b(?:know|hold|find|information|idea|answer|help)/iu;

/** Returns the beginning of a text as one line, cut at a word. */
export function oneLine(text: string, limit: number): string {
  return cutAtWord(
    text
      .slice(0, 8 * limit)
      .replaceAll(/\s+/gu, ' ')
      .trim()
      .toWellFormed(),
    limit,
  );
}

import { inverseRowFrequency } from '../../common/ranking/bm25.ts';
import { collapseNearDuplicates } from '../../common/ranking/near-duplicates.ts';
import { tokenize, tokenizeQuery } from '../../common/text/language/tokenize.ts';
import { NOTHING_FITS, quoteLine } from '../../common/text/repetition/own-answers.ts';
import type { RankedPassage } from '../model.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import { type Statement, statementsOf } from './statements.ts';

const MAX_QUOTES = 3;
const PASSAGES_READ = 8;
/** Minimum score of a quote as a share of the best one. */
const QUOTE_FLOOR = 0.6;
/** Score gain of a sentence of the first passage over one of the last passage. */
const RANK_GAIN = 0.5;
/** Weight of a word in the heading or key above a statement, relative to a word in the statement. */
const LABEL_SHARE = 0.5;
/**
 * Minimum share of the query's information that the best passages must contain together: more when none contains a name of
 * the query. Calibrated by running the questions of each train set against the other set, which cannot answer them:
 * abstains on 2 of 3 of those, and on 3 of 100 that their own set answers.
 */
const ABSTAIN_BELOW = { allNamesHeld: 0.35, nameMissing: 0.72 } as const;

/** Quotes, and the ids of their passages. */
interface ExtractiveAnswer {
  readonly text: string;
  readonly passageIds: readonly string[];
}

const NO_ANSWER: ExtractiveAnswer = { text: NOTHING_FITS, passageIds: [] };

interface Quote {
  readonly id: string;
  readonly passageId: string;
  readonly text: string;
  readonly source: string;
  readonly score: number;
}

/**
 * Answers a question without a model: quotes the sentences with most of the question's information, each with its
 * document. Returns `NOTHING_FITS` when the passages do not contain what the question is about.
 */
export function extractiveAnswer(
  query: string,
  retrieval: Retrieval,
  passages: readonly RankedPassage[],
): ExtractiveAnswer {
  if (passages.length === 0 || lacksEvidence(retrieval, passages)) return NO_ANSWER;
  const quotes = bestQuotes(query, passages.slice(0, PASSAGES_READ), retrieval);
  if (quotes.length === 0) return NO_ANSWER;
  const text = quotes.map((quote) => quoteLine(quote.text, quote.source)).join('\n');
  return { text, passageIds: [...new Set(quotes.map(({ passageId }) => passageId))] };
}

/** Whether the best passages miss too much of the query's information. */
function lacksEvidence(
  retrieval: Pick<Retrieval, 'analysis' | 'information'>,
  passages: readonly Pick<RankedPassage, 'terms'>[],
): boolean {
  const { entities, terms } = retrieval.analysis;
  const names = new Set(entities.flatMap((name) => tokenizeQuery(name)));
  const read = passages.slice(0, PASSAGES_READ);
  const isMissing = terms.some(
    (term, at) => names.has(term) && read.every((passage) => (passage.terms[at] ?? 0) === 0),
  );
  const held = heldInformation(retrieval, passages);
  return held < (isMissing ? ABSTAIN_BELOW.nameMissing : ABSTAIN_BELOW.allNamesHeld);
}

/** Returns the share of the query's information that the best passages contain together, 0 to 1. */
function heldInformation(
  retrieval: Pick<Retrieval, 'information'>,
  passages: readonly Pick<RankedPassage, 'terms'>[],
): number {
  const read = passages.slice(0, PASSAGES_READ);
  let total = 0;
  let held = 0;
  for (const [at, information] of retrieval.information.entries()) {
    total += information;
    if (read.some((passage) => (passage.terms[at] ?? 0) > 0)) held += information;
  }
  return total === 0 ? 0 : held / total;
}

function bestQuotes(query: string, passages: readonly RankedPassage[], retrieval: Retrieval): readonly Quote[] {
  const read = passages.map((passage) => ({ passage, statements: statementsOf(passage) }));
  const informationOf = statementInformation(
    query,
    read.flatMap(({ statements }) => statements),
  );
  const names = retrieval.named.map((entity) => entity.name.toLowerCase());
  const quotes = read.flatMap(({ passage, statements }, place) =>
    statements.map((statement, at): Quote => {
      const lower = statement.text.toLowerCase();
      const named = names.filter((name) => lower.includes(name)).length;
      const gain = 1 + RANK_GAIN * (1 - place / PASSAGES_READ);
      return {
        id: `${passage.id}#${at}`,
        passageId: passage.id,
        text: statement.text,
        source: sourceName(passage),
        score: (informationOf(statement) + named) * gain,
      };
    }),
  );
  const ranked = quotes.toSorted((a, b) => b.score - a.score);
  const best = ranked[0]?.score ?? 0;
  if (best === 0) return [];
  const strong = ranked.filter((quote) => quote.score >= QUOTE_FLOOR * best);
  return collapseNearDuplicates(strong.slice(0, 4 * MAX_QUOTES))
    .map(({ item }) => item)
    .slice(0, MAX_QUOTES);
}

/** Returns a readable source: the name of the document, else its heading, else the beginning of the passage. */
function sourceName({ payload }: RankedPassage): string {
  const named = GENERATED.test(payload.documentName) ? '' : payload.documentName;
  if (named !== '') return named;
  const start = payload.headings[0] ?? payload.text.trim().split('\n', 1)[0] ?? '';
  return start.length <= MAX_SOURCE ? start : `${start.slice(0, MAX_SOURCE - 1).trimEnd()}…`;
}

/** Names that ingest generates for texts without a name. */
const GENERATED = /^text_[0-9a-f]{32}$/;
const MAX_SOURCE = 48;

/**
 * Returns the score of a statement: the information (idf over all statements) of the query's words in it. Words that only
 * its label contains count for a share, and long statements lose score.
 */
function statementInformation(query: string, all: readonly Statement[]): (statement: Statement) => number {
  const terms = tokenizeQuery(query);
  const read = new Map(
    all.map((statement) => {
      const tokens = tokenize(statement.text);
      const labels = new Set(tokenize(statement.label));
      return [statement, { words: new Set(tokens), labels, length: tokens.length }];
    }),
  );
  const rows = [...read.values()];
  const weights = terms.map((term) =>
    inverseRowFrequency(rows.length, rows.filter(({ words }) => words.has(term)).length),
  );
  return (statement) => {
    const found = read.get(statement);
    if (found === undefined) return 0;
    const { words, labels, length } = found;
    const shareOf = (term: string) => (words.has(term) ? 1 : labels.has(term) ? LABEL_SHARE : 0);
    const sum = terms.reduce((total, term, at) => total + shareOf(term) * (weights[at] ?? 0), 0);
    return sum / Math.sqrt(1 + length / 60);
  };
}

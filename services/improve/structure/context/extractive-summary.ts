import { names } from '../../../common/language/names.ts';
import { sentences } from '../../../common/language/sentences.ts';
import { estimateTokens } from '../../../common/language/token-count.ts';

interface Candidate {
  readonly text: string;
  readonly names: readonly string[];
  readonly input: number;
  readonly place: number;
}

/** Where a sentence stands in its text counts a little: the first says most. */
const PLACE_BONUS = 0.3;
/** What a name is still worth that a chosen sentence told of already. */
const REPEATED = 0.2;
/** One long sentence must not stand for everything. */
const MAX_SENTENCE_TOKENS = 80;

/**
 * The strongest sentences of several texts, in their order: a sentence counts by the names in it, a name by in how many of
 * the texts it is. Names that were told of already count less, so that one theme does not fill the summary. Empty for
 * empty texts.
 */
export function extractiveSummary(texts: readonly string[], maxTokens: number): string {
  const candidates = texts.flatMap((text, input) =>
    sentences(text).flatMap((sentence, place): readonly Candidate[] => {
      const line = sentence.text.replace(/\s+/gu, ' ').trim();
      if (line === '') return [];
      return [{ text: line, names: [...new Set(names(line).map((name) => name.text.toLowerCase()))], input, place }];
    }),
  );
  const inputs = new Map<string, Set<number>>();
  for (const { names: told, input } of candidates) {
    for (const name of told) inputs.set(name, (inputs.get(name) ?? new Set()).add(input));
  }
  const worth = (name: string) => Math.log(1 + (inputs.get(name)?.size ?? 0));
  const chosen: Candidate[] = [];
  const told = new Set<string>();
  let rest = candidates.filter((candidate, at) => candidates.findIndex(({ text }) => text === candidate.text) === at);
  let tokens = 0;
  while (rest.length > 0) {
    const scored = rest.map((candidate) => ({ candidate, score: scoreOf(candidate, worth, told) }));
    const [best] = scored.sort((left, right) => right.score - left.score || before(left.candidate, right.candidate));
    if (best === undefined) break;
    rest = rest.filter((candidate) => candidate !== best.candidate);
    const size = estimateTokens(best.candidate.text);
    const isFirst = chosen.length === 0;
    if (!isFirst && (tokens + size > maxTokens || size > MAX_SENTENCE_TOKENS)) continue;
    chosen.push(best.candidate);
    tokens += size;
    for (const name of best.candidate.names) told.add(name);
    if (tokens >= maxTokens) break;
  }
  return chosen
    .sort(before)
    .map(({ text }) => text)
    .join(' ');
}

function scoreOf(candidate: Candidate, worth: (name: string) => number, told: ReadonlySet<string>): number {
  const named = candidate.names.reduce((sum, name) => sum + worth(name) * (told.has(name) ? REPEATED : 1), 0);
  return named + PLACE_BONUS / (1 + candidate.place);
}

function before(left: Candidate, right: Candidate): number {
  return left.input - right.input || left.place - right.place;
}

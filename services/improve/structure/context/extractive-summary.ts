import { names } from '../../../common/text/language/names.ts';
import { sentences } from '../../../common/text/language/sentences.ts';
import { estimateTokens } from '../../../common/text/language/token-count.ts';

interface Candidate {
  readonly text: string;
  readonly names: readonly string[];
  readonly input: number;
  readonly place: number;
}

/** Bonus by position: the first sentence of a text says most. */
const PLACE_BONUS = 0.3;
/** Factor of a name that a chosen sentence already has. */
const REPEATED = 0.2;
/** Longer sentences are only chosen first. */
const MAX_SENTENCE_TOKENS = 80;

/**
 * Chooses the strongest sentences of several texts, in their order: a sentence is scored by its names, a name by the number of
 * texts with it. Names of chosen sentences count less, so that one theme does not fill the summary. Empty for empty texts.
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
  const rest = createRanking(
    [...new Map(candidates.toReversed().map((candidate) => [candidate.text, candidate])).values()].map((candidate) => ({
      candidate,
      score: scoreOf(candidate, worth, told),
    })),
  );
  let tokens = 0;
  for (let best = rest.take(); best !== null && (tokens < maxTokens || chosen.length === 0); best = rest.take()) {
    const { candidate } = best;
    const score = scoreOf(candidate, worth, told);
    // Scores only fall: a candidate whose score fell is put back with its new score.
    if (score < best.score) {
      rest.put({ candidate, score });
      continue;
    }
    const size = estimateTokens(candidate.text);
    const isFirst = chosen.length === 0;
    if (!isFirst && (tokens + size > maxTokens || size > MAX_SENTENCE_TOKENS)) continue;
    chosen.push(candidate);
    tokens += size;
    for (const name of candidate.names) told.add(name);
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

interface Scored {
  readonly candidate: Candidate;
  readonly score: number;
}

/** Creates a priority queue (binary heap) of scored sentences. */
function createRanking(entries: readonly Scored[]) {
  const heap = entries.toSorted(byRank);
  const at = (place: number): Scored => heap[place] as Scored;
  const swap = (one: number, other: number): void => {
    [heap[one], heap[other]] = [at(other), at(one)];
  };
  return {
    put(entry: Scored): void {
      heap.push(entry);
      for (let place = heap.length - 1; place > 0; ) {
        const parent = (place - 1) >> 1;
        if (byRank(at(parent), at(place)) <= 0) return;
        swap(parent, place);
        place = parent;
      }
    },
    take(): Scored | null {
      const [best = null] = heap;
      const last = heap.pop();
      if (best === null || last === undefined || heap.length === 0) return best;
      heap[0] = last;
      for (let place = 0; ; ) {
        const [left, right] = [2 * place + 1, 2 * place + 2];
        let first = left < heap.length && byRank(at(left), at(place)) < 0 ? left : place;
        if (right < heap.length && byRank(at(right), at(first)) < 0) first = right;
        if (first === place) return best;
        swap(first, place);
        place = first;
      }
    },
  };
}

function byRank(left: Scored, right: Scored): number {
  return right.score - left.score || before(left.candidate, right.candidate);
}

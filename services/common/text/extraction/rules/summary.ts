import { wordInformation } from '../../language/common-words.ts';
import { contentStems } from '../../language/tokenize.ts';
import type { AnalysedSentence } from './mention.ts';

const MAX_SENTENCE_LENGTH = 400;
/** Shorter sentences are quoted whole; there is nothing to leave out. */
const MIN_LENGTH_TO_TRIM = 100;
const ASIDE = /\s*(?:\([^()]*\)|\[[^[\]]*\])/gu;

/**
 * One to three sentences, verbatim and in order: those whose words are most central to the text, with a bonus for the
 * opening and for sentences that name things. Without a model, words of the author beat words of ours. Long sentences
 * lose what they say in parentheses. A text of one short sentence is its own summary: it has no shorter one.
 */
export function summaryOf(sentences: readonly AnalysedSentence[]): string {
  const candidates = sentences.filter(({ sentence }) => /\p{L}/u.test(sentence.text));
  const wanted = candidates.length <= 3 ? 1 : candidates.length <= 9 ? 2 : 3;
  const stems = candidates.map(({ sentence }) => contentStems(sentence.text));
  const counts = new Map<string, number>();
  for (const list of stems) for (const stem of new Set(list)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const scores = candidates.map(({ mentions }, index) => {
    const distinct = [...new Set(stems[index])];
    const centrality = distinct.reduce((sum, stem) => sum + wordInformation(stem) * ((counts.get(stem) ?? 1) - 0.5), 0);
    const position = index === 0 ? 1.5 : 1;
    return (position * (1 + Math.min(mentions.length, 4) * 0.1) * centrality) / (8 + distinct.length);
  });
  return candidates
    .map(({ sentence }, index) => ({ text: sentence.text, index, score: scores[index] ?? 0 }))
    .sort((left, right) => right.score - left.score || left.index - right.index)
    .slice(0, wanted)
    .sort((left, right) => left.index - right.index)
    .map(({ text }) => shorten(withoutAsides(text.replace(/\s+/gu, ' '))))
    .join(' ');
}

function withoutAsides(text: string): string {
  if (text.length < MIN_LENGTH_TO_TRIM) return text;
  const bare = text.replace(ASIDE, '').trim();
  return /\p{L}/u.test(bare) ? bare : text;
}

function shorten(text: string): string {
  if (text.length <= MAX_SENTENCE_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf(' ', MAX_SENTENCE_LENGTH) || MAX_SENTENCE_LENGTH)}…`;
}

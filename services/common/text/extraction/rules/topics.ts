import { smallest } from '../../../kernel/long-lists.ts';
import type { Definition } from './definitions.ts';
import type { AnalysedSentence } from './mention.ts';

/** Words at the start of a sentence that refer to a thing named before: `It`, `The district`. */
export interface TopicMention {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface TopicSource {
  readonly name: string;
  readonly type: string;
  /** Start of its first mention in each sentence, by sentence number. */
  readonly starts: ReadonlyMap<number, number>;
  /** `district`: last word of the class that a definition gave. */
  readonly head: string | null;
}

/** A mention this close to the start of its sentence is the subject. */
const SUBJECT_REACH = 6;

/**
 * Things behind `It` (the subject of the sentence before, when that is no person) and behind `The band`, `The district`
 * (the last thing that was defined as one). Only at the start of a sentence, where this is rarely wrong.
 */
export function resolveTopics(
  sentences: readonly AnalysedSentence[],
  sources: readonly TopicSource[],
): (TopicMention | null)[] {
  const found: (TopicMention | null)[] = [];
  for (const [index, { sentence }] of sentences.entries()) {
    const opening = /^(?:(It|Its)|(?:The|This) (\p{Ll}+))(?=[ '’,])/u.exec(sentence.text);
    const topic = opening === null ? null : topicOf(opening, { index, sources, found });
    found.push(topic === null || opening === null ? null : { name: topic, start: 0, end: opening[0].length });
  }
  return found;
}

function topicOf(
  opening: RegExpExecArray,
  {
    index,
    sources,
    found,
  }: { index: number; sources: readonly TopicSource[]; found: readonly (TopicMention | null)[] },
): string | null {
  const [, pronoun, noun] = opening;
  if (pronoun !== undefined) {
    const subject = sources.find((source) => (source.starts.get(index - 1) ?? SUBJECT_REACH) < SUBJECT_REACH);
    if (subject !== undefined) return subject.type === 'Person' || subject.type === 'Date' ? null : subject.name;
    return found[index - 1]?.name ?? null;
  }
  const defined = sources.filter((source) => source.head === noun && smallest(source.starts.keys()) < index);
  return defined.length === 1 ? (defined[0]?.name ?? null) : null;
}

/** The last word of a definition's class. */
export function headOf(definition: Pick<Definition, 'className'>): string | null {
  return definition.className?.split(' ').at(-1) ?? null;
}

import type { UsedGraphElements } from '../../common/domain/session.ts';
import type { RankedPassage } from '../retrieval/retrieval.ts';
import type { Knowledge } from './knowledge.ts';

/** What is noted of one answer: feedback on it moves these, and with hundreds of them it would say nothing of any. */
const MAX_ELEMENTS = 100;

/**
 * The passages and statements that an answer was made from, by their ids in the graph. `quoted`: the passages that the
 * answer quotes; null when a model was shown them all.
 */
export function usedElements(
  passages: readonly RankedPassage[],
  knowledge: Knowledge | null,
  quoted: readonly string[] | null,
): UsedGraphElements {
  const shown = quoted ?? passages.map(({ id }) => id);
  const isShown = new Set(shown);
  const facts = (knowledge?.facts ?? []).filter(
    ({ chunkId }) => quoted === null || (chunkId !== null && isShown.has(chunkId)),
  );
  const ends = facts.flatMap(({ source, target }) => [source.id, target.id]);
  const entities = quoted === null ? (knowledge?.entities ?? []).map(({ id }) => id) : [];
  return {
    nodeIds: [...new Set([...shown, ...entities, ...ends])].slice(0, MAX_ELEMENTS),
    edgeIds: [...new Set(facts.map(({ id }) => id))].slice(0, MAX_ELEMENTS),
  };
}

export function joinElements(used: readonly UsedGraphElements[]): UsedGraphElements {
  const distinct = (ids: readonly string[]) => [...new Set(ids)].slice(0, MAX_ELEMENTS);
  return {
    nodeIds: distinct(used.flatMap(({ nodeIds = [] }) => nodeIds)),
    edgeIds: distinct(used.flatMap(({ edgeIds = [] }) => edgeIds)),
  };
}

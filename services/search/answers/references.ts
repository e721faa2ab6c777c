import { isGeneratedName } from '../../common/domain/index-rows.ts';
import type { UsedGraphElements } from '../../common/domain/session.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { RankedPassage } from '../model.ts';
import type { Knowledge } from './knowledge.ts';
import { labelOfPassage } from './source-label.ts';

const MAX_BULLETS = 5;
const SNIPPET_LENGTH = 160;

/**
 * Returns the evidence block that clients parse (clients.md §3.6), or '' when no passage supports the answer. `snippets`:
 * quotes the passages that share significant words with the answer; otherwise names every passage.
 */
export function evidenceBlock(
  answer: string,
  passages: readonly RankedPassage[],
  options: { readonly snippets: boolean },
): string {
  const cited = options.snippets ? groundingPassages(answer, passages) : passages;
  const distinct = [...new Map(cited.map((passage) => [passage.id, passage])).values()].slice(0, MAX_BULLETS);
  if (distinct.length === 0) return '';
  const bullets = distinct.map((passage) => {
    const { chunkIndex, documentName, documentId, text } = passage.payload;
    const name = isGeneratedName(documentName) ? labelOfPassage(passage.payload) : documentName;
    const source = `chunk ${chunkIndex + 1} of document ${name} (data_id: ${documentId}, chunk_id: ${passage.id})`;
    return options.snippets ? `- ${source}: "${snippetOf(text)}"` : `- ${source}`;
  });
  return `\n\nEvidence:\n${bullets.join('\n')}`;
}

function groundingPassages(answer: string, passages: readonly RankedPassage[]): readonly RankedPassage[] {
  const terms = significantWords(answer);
  return passages
    .map((passage) => {
      const words = significantWords(passage.payload.text);
      return { passage, shared: [...terms].filter((term) => words.has(term)).length };
    })
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared)
    .map(({ passage }) => passage);
}

function significantWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !STOP_WORDS.has(word)));
}

function snippetOf(text: string): string {
  const line = text.trim().replace(/\s+/gu, ' ');
  if (line.length <= SNIPPET_LENGTH) return line;
  const characters = [...line];
  return characters.length <= SNIPPET_LENGTH ? line : `${characters.slice(0, SNIPPET_LENGTH - 1).join('')}…`;
}

/** Maximum elements recorded for one answer: feedback on it changes their weights, and spread over hundreds it has no effect. */
const MAX_ELEMENTS = 100;

/**
 * Returns the graph ids of the passages and facts that an answer was made from. `quoted`: ids of quoted passages; null when
 * a model read all of them.
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

/** Merges the elements of several answers. */
export function joinElements(used: readonly UsedGraphElements[]): UsedGraphElements {
  const distinct = (ids: readonly string[]) => [...new Set(ids)].slice(0, MAX_ELEMENTS);
  return {
    nodeIds: distinct(used.flatMap(({ nodeIds = [] }) => nodeIds)),
    edgeIds: distinct(used.flatMap(({ edgeIds = [] }) => edgeIds)),
  };
}

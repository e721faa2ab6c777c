import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { RankedPassage } from '../retrieval/retrieval.ts';

const MAX_BULLETS = 5;
const SNIPPET_LENGTH = 160;

/**
 * The text block that clients parse (clients.md §3.6), or '' when no passage grounds the answer. `snippets`: passages
 * that share significant words with the answer, quoted; otherwise every passage, named only.
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
    const source = `chunk ${chunkIndex + 1} of document ${documentName} (data_id: ${documentId}, chunk_id: ${passage.id})`;
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

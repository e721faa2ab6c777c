import type { DocumentBlock } from '../../../ports/documents.ts';
import { splitByDefinition } from '../code-definitions.ts';
import type { CodeLanguage } from '../code-languages.ts';
import type { DocumentDraft } from '../draft.ts';
import type { Grammars } from '../tree-sitter.ts';

/** Larger files are data that looks like code (bundles, tables); the parser would need gigabytes for its tree. */
const MAX_PARSED_CHARACTERS = 4 * 1024 * 1024;

/** Text verbatim; the blocks cut it into definitions with their comments, each under its qualified name. */
export async function readCode(text: string, code: CodeLanguage, grammars: Grammars): Promise<DocumentDraft> {
  const normal = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  if (code.grammar === null || normal.length > MAX_PARSED_CHARACTERS)
    return { text, blocks: blankLineBlocks(normal, code.language) };
  const parser = await grammars.parser(code.grammar);
  const tree = parser.parse(normal);
  if (tree === null) return { text, blocks: blankLineBlocks(normal, code.language) };
  try {
    return { text, blocks: splitByDefinition(tree.rootNode, normal, code.language) };
  } finally {
    tree.delete();
    parser.delete();
  }
}

/**
 * For languages without a grammar: a new block begins at a line that is not indented and follows a blank line, so that the body of a
 * function stays with its head.
 */
function blankLineBlocks(text: string, language: string): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  let lines: string[] = [];
  let afterBlank = false;
  const close = (): void => {
    if (lines.some((line) => line.trim() !== '')) blocks.push({ kind: 'code', text: lines.join('\n'), language });
    lines = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    if (afterBlank && /^[^\s})\]]/.test(line)) close();
    afterBlank = line.trim() === '';
    lines.push(line);
  }
  close();
  return blocks;
}

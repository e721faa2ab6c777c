import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from '../draft.ts';

/** One block per entry: a line with the indented lines (stack traces) and blank lines that belong to it. */
export function readLog(text: string): DocumentDraft {
  const blocks: DocumentBlock[] = [];
  let entry: string[] = [];
  const close = (): void => {
    if (entry.length > 0) blocks.push({ kind: 'paragraph', text: entry.join('\n') });
    entry = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    const continues = /^(\s|at |Caused by|\.\.\. \d+ more)/.test(line) || line === '';
    if (!continues) close();
    if (line.trim() !== '') entry.push(line.trimEnd());
  }
  close();
  return { text, blocks };
}

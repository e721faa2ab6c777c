import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from '../draft.ts';

/** YAML, TOML and INI: one block per top-level key or section, with the comment lines above it. */
export function readSettings(text: string): DocumentDraft {
  const blocks: DocumentBlock[] = [];
  let lines: string[] = [];
  let hasKey = false;
  const close = (): void => {
    if (lines.some((line) => line.trim() !== '')) blocks.push({ kind: 'paragraph', text: lines.join('\n') });
    lines = [];
    hasKey = false;
  };
  for (const line of text.split(/\r\n?|\n/)) {
    const isComment = /^[#;]/.test(line);
    const isDivider = line === '---' || line === '...';
    const startsKey = line !== '' && !/^[\s#;\]})-]/.test(line);
    if (isDivider || (hasKey && (startsKey || isComment))) close();
    if (isDivider) continue;
    if (startsKey) hasKey = true;
    lines.push(line);
  }
  close();
  return { text, blocks };
}

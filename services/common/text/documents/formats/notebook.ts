import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from '../draft.ts';
import type { ParseContext } from '../limits.ts';
import { readJson } from './json.ts';
import { readMarkdown } from './markdown.ts';

interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
}

/** Jupyter notebook: prose cells as Markdown, code cells as code, text outputs left out. Other JSON under that name is read as JSON. */
export function readNotebook(text: string, context: ParseContext): DocumentDraft {
  const notebook = parse(text);
  if (notebook === null) return readJson(text, context);
  const blocks: DocumentBlock[] = [];
  for (const cell of notebook.cells) {
    const source = Array.isArray(cell.source) ? cell.source.join('') : String(cell.source ?? '');
    if (cell.cell_type === 'markdown') append(blocks, readMarkdown(source).blocks);
    else if (cell.cell_type === 'code') blocks.push({ kind: 'code', text: source, language: notebook.language });
    else blocks.push({ kind: 'paragraph', text: source });
  }
  return { blocks, title: blocks.find((block) => block.kind === 'heading')?.text ?? null };
}

function parse(text: string): { readonly cells: readonly Cell[]; readonly language: string } | null {
  try {
    const value = JSON.parse(text) as { cells?: unknown; metadata?: { kernelspec?: { language?: unknown } } };
    const language = value.metadata?.kernelspec?.language;
    return Array.isArray(value.cells)
      ? { cells: value.cells as Cell[], language: typeof language === 'string' ? language : 'python' }
      : null;
  } catch {
    return null;
  }
}

import { parse } from 'csv-parse/sync';
import { engramError } from '../../../kernel/errors.ts';
import type { DocumentDraft } from './draft.ts';
import type { ParseContext } from './limits.ts';
import { selfDescribingRows } from './table-text.ts';

/** One block per row, each naming its columns, so that a row found alone still says what it is about. */
export function readCsv(text: string, context: ParseContext): DocumentDraft {
  const rows = parse(text, {
    delimiter: delimiterOf(text),
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    bom: true,
    max_record_size: 0,
  }) as string[][];
  const cells = rows.reduce((sum, row) => sum + row.length, 0);
  if (cells > context.limits.maxCells) {
    throw engramError(
      'PayloadTooLargeError',
      `'${context.fileName}' has ${cells} cells; the limit is ${context.limits.maxCells}`,
    );
  }
  const { header, above, lines } = selfDescribingRows(rows);
  return {
    blocks: [
      ...above.map((line) => ({ kind: 'paragraph' as const, text: line })),
      ...lines.map((line) => ({ kind: 'table' as const, text: line })),
    ],
    metadata: { columns: header.join(', '), rows: String(lines.length) },
  };
}

/** The candidate that splits the first lines most evenly into most fields. */
function delimiterOf(text: string): string {
  const lines = text
    .slice(0, 65_536)
    .split(/\r\n?|\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, 20);
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of [',', ';', '\t', '|']) {
    const counts = lines.map((line) => outsideQuotes(line).split(delimiter).length - 1);
    const [least = 0, ...more] = counts.toSorted((one, other) => one - other);
    const most = more.at(-1) ?? least;
    const score = least > 0 ? least * 2 - (most - least) * 0.5 : most > 0 ? 0.1 : 0;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function outsideQuotes(line: string): string {
  return line.replaceAll(/"[^"]*"/g, '');
}

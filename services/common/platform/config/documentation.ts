import { replaceBetween } from '../../kernel/generated-files.ts';
import { FOREIGN_NAMES } from './foreign-names.ts';
import { SECTIONS, type Setting } from './settings/setting.ts';
import { SETTINGS } from './settings.ts';

export const MARKS = ['<!-- configuration:start -->', '<!-- configuration:end -->'] as const;

/** The table of README.md: made from the schema, so it cannot go stale unnoticed. */
export function configurationMarkdown(): string {
  const rows = Object.values<Setting>(SETTINGS);
  const parts = SECTIONS.map((section) => {
    const lines = rows.filter((row) => row.section === section).map(markdownRow);
    return `**${section}**\n\n| variable | default | meaning |\n|---|---|---|\n${lines.join('\n')}`;
  });
  return `${parts.join('\n\n')}\n\n${foreignMarkdown()}`;
}

/** The text with the part between the marks replaced. Throws when a mark is missing. */
export function replaceSection(document: string): string {
  return replaceBetween(document, MARKS, `\n${configurationMarkdown()}\n`);
}

/** Writes the settings for a terminal, then the variables of cognee without effect. */
export function configurationText(): string {
  const rows = Object.values<Setting>(SETTINGS);
  const width = Math.max(...rows.map((row) => row.names[0].length));
  const lines = SECTIONS.flatMap((section) => [
    '',
    section,
    ...rows
      .filter((row) => row.section === section)
      .map(
        (row) =>
          `  ${row.names[0].padEnd(width)}  ${plain(shownDefault(row))}\n  ${''.padEnd(width)}  ${meaningOf(row)}`,
      ),
  ]);
  const foreign = FOREIGN_NAMES.map((entry) => `  ${entry.note}\n    ${entry.names.join(', ')}`);
  return `${[...lines, '', 'Variables of cognee without effect', ...foreign].join('\n').trimStart()}\n`;
}

function markdownRow(row: Setting): string {
  return `| \`${row.names[0]}\` | ${shownDefault(row)} | ${meaningOf(row).replaceAll('|', '\\|')} |`;
}

function shownDefault(row: Setting): string {
  if (row.shownDefault !== undefined) return row.shownDefault;
  return row.default === undefined ? '–' : row.default === '' ? 'none' : `\`${row.default}\``;
}

function meaningOf(row: Setting): string {
  const others = row.names.slice(1);
  const also = others.length === 0 ? '' : ` Also read as ${others.map((name) => `\`${name}\``).join(', ')}.`;
  return `${row.secret === true ? 'Secret. ' : ''}${row.meaning}${also}`;
}

function foreignMarkdown(): string {
  const lines = FOREIGN_NAMES.map(({ note, names }) => `| ${names.map((name) => `\`${name}\``).join(' ')} | ${note} |`);
  return `Every name above is honoured. Variables of cognee that have no effect here, with a warning at start:\n\n| variables | why |\n|---|---|\n${lines.join('\n')}`;
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}

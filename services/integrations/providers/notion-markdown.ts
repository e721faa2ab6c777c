import type { BlockObjectResponse, PageObjectResponse, RichTextItemResponse } from '@notionhq/client';

type Block = BlockObjectResponse;
type MeetingNotes = Extract<Block, { readonly type: 'meeting_notes' }>['meeting_notes'];
type Property = PageObjectResponse['properties'][string];
/** Blocks below a block or a page. */
type Children = (id: string) => AsyncIterable<Block>;

/** Notion nests without end; deeper blocks are left out. */
const MAX_DEPTH = 12;

/** The blocks of a page as Markdown. Pages and databases below it are named: they are documents of their own. */
export async function markdownOf(id: string, children: Children, depth = 0): Promise<string> {
  const parts: string[] = [];
  let number = 0;
  let wasItem = false;
  for await (const block of children(id)) {
    number = block.type === 'numbered_list_item' ? number + 1 : 0;
    const text = await blockText(block, children, { depth, number });
    if (text === '') continue;
    const isItem = ITEMS.has(block.type);
    // Items of a list follow each other without an empty line.
    parts.push(parts.length === 0 ? '' : wasItem && isItem ? '\n' : '\n\n', text);
    wasItem = isItem;
  }
  return parts.join('');
}

const ITEMS: ReadonlySet<string> = new Set(['bulleted_list_item', 'numbered_list_item', 'to_do', 'toggle']);

async function blockText(
  block: Block,
  children: Children,
  { depth, number }: { readonly depth: number; readonly number: number },
): Promise<string> {
  if (block.type === 'table') return table(block.id, children);
  if (block.type === 'meeting_notes') return meetingNotes(block.meeting_notes, children, depth);
  const text = ownText(block, number);
  const isOwnDocument = block.type === 'child_page' || block.type === 'child_database';
  if (!block.has_children || isOwnDocument || depth >= MAX_DEPTH) return text;
  const below = await markdownOf(block.id, children, depth + 1);
  if (below === '') return text;
  if (block.type === 'quote' || block.type === 'callout') return `${text}\n${prefixed('> ', below)}`;
  if (ITEMS.has(block.type)) return `${text}\n${prefixed('  ', below)}`;
  return text === '' ? below : `${text}\n\n${below}`;
}

/** A block without what is below it. */
function ownText(block: Block, number: number): string {
  switch (block.type) {
    case 'heading_1':
      return heading(2, block.heading_1.rich_text);
    case 'heading_2':
      return heading(3, block.heading_2.rich_text);
    case 'heading_3':
      return heading(4, block.heading_3.rich_text);
    case 'heading_4':
      return heading(5, block.heading_4.rich_text);
    case 'paragraph':
      return richText(block.paragraph.rich_text);
    case 'bulleted_list_item':
      return `- ${richText(block.bulleted_list_item.rich_text)}`;
    case 'numbered_list_item':
      return `${number}. ${richText(block.numbered_list_item.rich_text)}`;
    case 'to_do':
      return `- [${block.to_do.checked ? 'x' : ' '}] ${richText(block.to_do.rich_text)}`;
    case 'toggle':
      return `- ${richText(block.toggle.rich_text)}`;
    case 'quote':
      return prefixed('> ', richText(block.quote.rich_text));
    case 'callout':
      return prefixed('> ', richText(block.callout.rich_text));
    case 'code':
      return code(block.code.language, plain(block.code.rich_text));
    case 'equation':
      return `$$${block.equation.expression}$$`;
    case 'divider':
      return '---';
    case 'child_page':
      return `Page: ${block.child_page.title}`;
    case 'child_database':
      return `Database: ${block.child_database.title}`;
    default:
      return linkText(block);
  }
}

/** Links and files: addresses of files that Notion keeps expire within the hour, so they have their captions alone. */
function linkText(block: Block): string {
  switch (block.type) {
    case 'bookmark':
      return captioned(block.bookmark.caption, block.bookmark.url);
    case 'embed':
      return captioned(block.embed.caption, block.embed.url);
    case 'link_preview':
      return block.link_preview.url;
    case 'image':
      return fileText(block.image);
    case 'video':
      return fileText(block.video);
    case 'audio':
      return fileText(block.audio);
    case 'pdf':
      return fileText(block.pdf);
    case 'file':
      return fileText(block.file) || block.file.name;
    default:
      return '';
  }
}

type FileValue = { readonly caption: readonly RichTextItemResponse[] } & (
  | { readonly type: 'external'; readonly external: { readonly url: string } }
  | { readonly type: 'file' }
);

function fileText(file: FileValue): string {
  return captioned(file.caption, file.type === 'external' ? file.external.url : '');
}

function captioned(caption: readonly RichTextItemResponse[], url: string): string {
  const text = richText(caption);
  return text === '' || url === '' ? text || url : `[${text}](${url})`;
}

function heading(level: number, text: readonly RichTextItemResponse[]): string {
  const shown = richText(text);
  return shown === '' ? '' : `${'#'.repeat(level)} ${shown}`;
}

function code(language: string, text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language === 'plain text' ? '' : language}\n${text}\n${fence}`;
}

async function table(id: string, children: Children): Promise<string> {
  const rows: string[] = [];
  for await (const row of children(id)) {
    if (row.type !== 'table_row') continue;
    const cells = row.table_row.cells.map((cell) => richText(cell).replaceAll('|', '\\|').replaceAll('\n', ' '));
    rows.push(`| ${cells.join(' | ')} |`);
    // Markdown has no table without a head: the first row is it.
    if (rows.length === 1) rows.push(`|${' --- |'.repeat(cells.length)}`);
  }
  return rows.join('\n');
}

/** The summary, the notes and the transcript of a meeting, which are blocks that no list names. */
async function meetingNotes(notes: MeetingNotes, children: Children, depth: number): Promise<string> {
  const { title = [], children: sections = {} } = notes;
  const named: readonly (readonly [string, string | undefined])[] = [
    ['Summary', sections.summary_block_id],
    ['Notes', sections.notes_block_id],
    ['Transcript', sections.transcript_block_id],
  ];
  const parts = [richText(title)];
  for (const [name, id] of depth >= MAX_DEPTH ? [] : named) {
    const text = id === undefined ? '' : await markdownOf(id, children, depth + 1);
    if (text !== '') parts.push(`${name}:\n\n${text}`);
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

function prefixed(prefix: string, text: string): string {
  return text.replaceAll(/^/gm, prefix);
}

function plain(text: readonly RichTextItemResponse[]): string {
  return text.map(({ plain_text: shown }) => shown).join('');
}

/** Text with its links and marks; other styles have no meaning for memory. */
export function richText(text: readonly RichTextItemResponse[]): string {
  return text
    .map(({ plain_text: shown, href, annotations }) => {
      const marked = annotations.code && shown.trim() !== '' ? `\`${shown}\`` : shown;
      const struck = annotations.strikethrough && shown.trim() !== '' ? `~~${marked}~~` : marked;
      return href !== null && /^https?:/.test(href) && href !== shown ? `[${struck}](${href})` : struck;
    })
    .join('');
}

/** Title of a page, which is one of its properties. */
export function titleOf(properties: Readonly<Record<string, Property>>): string {
  const title = Object.values(properties).find(({ type }) => type === 'title');
  return title?.type === 'title' ? plain(title.title) : '';
}

/** Title of a page by its id; empty: it is not known. */
type Titles = (id: string) => string;

/** The properties of a row as `name: value` lines, but its title and those without a value. */
export function propertyLines(properties: Readonly<Record<string, Property>>, titles: Titles): string {
  return Object.entries(properties)
    .filter(([, { type }]) => type !== 'title')
    .map(([name, property]) => [name, propertyText(property, titles)] as const)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** The value of a property as people see it; empty: it has none, or one that means nothing outside Notion. */
function propertyText(property: Property, titles: Titles): string {
  switch (property.type) {
    case 'rich_text':
      return richText(property.rich_text);
    case 'number':
      return String(property.number ?? '');
    case 'select':
      return property.select?.name ?? '';
    case 'status':
      return property.status?.name ?? '';
    case 'multi_select':
      return property.multi_select.map(({ name }) => name).join(', ');
    case 'date':
      return dateText(property.date);
    case 'checkbox':
      return property.checkbox ? 'yes' : 'no';
    case 'url':
      return property.url ?? '';
    case 'email':
      return property.email ?? '';
    case 'phone_number':
      return property.phone_number ?? '';
    case 'people':
      return names(property.people);
    case 'created_by':
      return names([property.created_by]);
    case 'last_edited_by':
      return '';
    case 'created_time':
      return property.created_time;
    case 'files':
      return property.files.map(({ name }) => name).join(', ');
    case 'unique_id':
      return [property.unique_id.prefix, property.unique_id.number].filter((part) => part !== null).join('-');
    case 'formula':
      return formulaText(property.formula);
    case 'relation':
      return property.relation
        .map(({ id }) => titles(id))
        .filter((title) => title !== '')
        .join(', ');
    case 'rollup':
      return rollupText(property.rollup, titles);
    default:
      return '';
  }
}

function dateText(date: { readonly start: string; readonly end: string | null } | null): string {
  if (date === null) return '';
  return date.end === null ? date.start : `${date.start} to ${date.end}`;
}

function names(people: readonly object[]): string {
  return people
    .map((one) => (one as { readonly name?: string | null }).name ?? '')
    .filter((name) => name !== '')
    .join(', ');
}

function formulaText(formula: Extract<Property, { type: 'formula' }>['formula']): string {
  switch (formula.type) {
    case 'string':
      return formula.string ?? '';
    case 'number':
      return String(formula.number ?? '');
    case 'boolean':
      return formula.boolean === null ? '' : formula.boolean ? 'yes' : 'no';
    case 'date':
      return dateText(formula.date);
    default:
      return '';
  }
}

function rollupText(rollup: Extract<Property, { type: 'rollup' }>['rollup'], titles: Titles): string {
  if (rollup.type === 'number') return String(rollup.number ?? '');
  if (rollup.type === 'date') return dateText(rollup.date);
  if (rollup.type !== 'array') return '';
  return rollup.array
    .map((one) => (one.type === 'title' ? plain(one.title) : propertyText({ id: '', ...one } as Property, titles)))
    .filter((text) => text !== '')
    .join(', ');
}

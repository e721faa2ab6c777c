import { smallest } from '../../common/kernel/long-lists.ts';
/** Fields of a front matter: a text, or a list of texts. Names are lower-cased. */
export type FrontMatter = ReadonlyMap<string, string | readonly string[]>;

interface SplitText {
  readonly fields: FrontMatter;
  /** The text after the front matter; the whole text when there is none. */
  readonly body: string;
}

/** A front matter is a label; what is larger is a document that happens to begin with a rule. */
const MAX_LINES = 500;
const MAX_FIELDS = 100;
const MAX_LIST = 200;

const OPENING = /^\uFEFF?---[ \t]*$/u;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/u;
const FIELD = /^([A-Za-z_][\w.-]{0,63})[ \t]*:(?:[ \t]+(.*))?$/u;
const LIST_ITEM = /^[ \t]*-(?:[ \t]+(.*))?$/u;
const BLOCK_TEXT = /^[|>][+-]?\d?(?:[ \t]+#.*)?$/u;

/**
 * The subset of YAML that front matters are written in: texts (plain, quoted, in blocks) and lists of texts (in brackets or
 * one per line). Everything else (maps, anchors, tags) is passed over: the values are data of users, and nothing but text
 * comes out. A front matter that is not closed is none.
 */
export function splitFrontMatter(text: string): SplitText {
  const lines = text.split(/\r\n|\r|\n/u);
  const none = { fields: new Map(), body: text.replace(/^\uFEFF/u, '') };
  if (!OPENING.test(lines[0] ?? '')) return none;
  const end = lines.slice(1, MAX_LINES + 2).findIndex((line) => CLOSING.test(line)) + 1;
  if (end === 0) return none;
  return { fields: readFields(lines.slice(1, end)), body: lines.slice(end + 1).join('\n') };
}

function readFields(lines: readonly string[]): FrontMatter {
  const fields = new Map<string, string | readonly string[]>();
  for (let at = 0; at < lines.length && fields.size < MAX_FIELDS; at += 1) {
    const [, name, value = ''] = FIELD.exec(lines[at] ?? '') ?? [];
    if (name === undefined) continue;
    let next = at + 1;
    while (next < lines.length && belongsToField(lines[next] ?? '')) next += 1;
    const read = readValue(value.trim(), lines.slice(at + 1, next));
    // The first of several fields of one name holds.
    if (read !== null && !fields.has(name.toLowerCase())) fields.set(name.toLowerCase(), read);
    at = next - 1;
  }
  return fields;
}

function belongsToField(line: string): boolean {
  return line.trim() === '' || /^[ \t]/u.test(line) || LIST_ITEM.test(line);
}

function readValue(value: string, following: readonly string[]): string | readonly string[] | null {
  if (BLOCK_TEXT.test(value)) return blockText(value, following);
  const rest = following.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (value === '' || value.startsWith('#')) return rest.length === 0 ? '' : listOrText(rest);
  if (value.startsWith('[')) return flowList([value, ...rest].join(' '));
  if (value.startsWith('{')) return null;
  return scalar([value, ...rest].join(' '));
}

function listOrText(lines: readonly string[]): string | readonly string[] | null {
  if (lines.every((line) => LIST_ITEM.test(line))) {
    const items = lines.map((line) => scalar(LIST_ITEM.exec(line)?.[1]?.trim() ?? ''));
    return items.filter((item) => item !== '').slice(0, MAX_LIST);
  }
  // A map below the field.
  if (lines.some((line) => FIELD.test(line))) return null;
  return scalar(lines.join(' '));
}

/** `|` keeps the lines, `>` joins them; blank lines part paragraphs. */
function blockText(style: string, lines: readonly string[]): string {
  const indent = smallest(lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/u)));
  const texts = lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0).trimEnd());
  if (style.startsWith('|')) return texts.join('\n').trim();
  return texts
    .join('\n')
    .trim()
    .split(/\n{2,}/u)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n');
}

/** `[a, "b, c"]`; what stands after the closing bracket is a comment. */
function flowList(text: string): readonly string[] {
  const items: string[] = [];
  let item = '';
  let quote = '';
  for (let at = 1; at < text.length && items.length < MAX_LIST; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      item += char;
      if (char === '\\' && quote === '"') item += text[++at] ?? '';
      else if (char === quote) quote = '';
    } else if (char === ',' || char === ']') {
      if (item.trim() !== '') items.push(scalar(item.trim()));
      item = '';
      if (char === ']') break;
    } else {
      if ((char === '"' || char === "'") && item.trim() === '') quote = char;
      item += char;
    }
  }
  return items.filter((entry) => entry !== '');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '' };

function scalar(text: string): string {
  if (text.startsWith("'")) {
    const [, inner] = /^'((?:[^']|'')*)'/u.exec(text) ?? [];
    if (inner !== undefined) return inner.replaceAll("''", "'");
  }
  if (text.startsWith('"')) {
    const [, inner] = /^"((?:[^"\\]|\\.)*)"/u.exec(text) ?? [];
    if (inner !== undefined) return inner.replaceAll(/\\(.)/gu, (_, char: string) => ESCAPES[char] ?? char);
  }
  const plain = text.replace(/(?:^|\s)#.*$/u, '').trim();
  return plain === 'null' || plain === '~' ? '' : plain;
}

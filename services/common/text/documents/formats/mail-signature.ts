import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { paragraphBlocks } from './plain-text.ts';

/** The line that separates a signature (RFC 3676), without its blank. */
const DELIMITER = /^--$/u;
const SIGN_OFF =
  /^(?:(?:with )?(?:best|kind(?:est)?|warm(?:est)?|many)? ?(?:regards|wishes)|best|cheers|(?:yours )?(?:sincerely|faithfully|truly)|(?:many )?thanks|thank you|(?:mit )?(?:freundlich|best|herzlich|viel|lieb|schön)e[nrm]? (?:gr[uü](?:ß|ss)en?)|gruß|mfg|lg|vg|(?:un )?(?:cordial )?saludos?(?: cordial(?:es)?)?|atentamente|(?:bien )?cordialement|(?:meilleures |sincères )?salutations|bien à vous)[ ,.!]*$/iu;
/** What follows is quoted from another mail. */
const QUOTATION = /^(?:On|Am|Le|El) .{4,80}(?:wrote|schrieb.*|a écrit ?|escribió):$|^-{3,}|^_{5,}|^(?:From|Von|De): /u;
const MAX_LINES = 12;
const MAX_LINE = 100;

const ADDRESS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/u;
const LINK = /(?:https?:\/\/|www\.)\S+/u;
const PHONE =
  /^(?:(tel(?:efon|ephone|éfono|\.)?|tél(?:éphone)?|phone|office|direct|mobile?|mobil|móvil|cell|handy|fax|telefax|[tmpf])[.: ]+)?(\+?\(?\d[\d ()./–-]{5,}\d)$/iu;
const ROLE =
  /(?:^|[^\p{L}])(?:head|manager|director|engineer|developer|officer|president|chair(?:man|woman)?|founder|c[etfoim]o|consultant|analyst|assistant|lead|leader|designer|architect|partner|professor|researcher|editor|accountant|lawyer|attorney|sales|marketing|support|representative|secretary|specialist|coordinator|owner|scientist|administrator|leiter(?:in)?|geschäftsführer(?:in)?|leitung|vertrieb|berater(?:in)?|referent(?:in)?|assisten[tz](?:in)?|vorstand|einkauf|inhaber(?:in)?|sachbearbeiter(?:in)?|directora?|gerente|jef[ea]|responsable|ingenier[oa]|consultora?|directeur|directrice|chef(?:fe)?|ingénieure?|gérante?)(?![\p{L}])|\p{L}(?:leiter|leiterin|entwickler|entwicklerin|berater|beraterin|ingenieur|ingenieurin|manager|managerin)$/iu;
const LEGAL =
  /^(?:geschäftsführer|geschäftsführung|managing directors?|vorstand|aufsichtsrat|registergericht|amtsgericht|handelsregister|hrb|ust|vat|sitz|registered|company (?:no|number)|siège|siret|cif|nif)\b.*[:\d]/iu;
const COMPANY =
  /(?:^|[\p{L}. ])(?:gmbh(?: & co\.? kg)?|ag|kg|ohg|ug|e\.? ?v|inc|corp(?:oration)?|ltd|limited|ll[cp]|plc|company|group|holding|s\.?[al]\.?(?:u\.?)?|sarl|sas|s\.?p\.?a|b\.?v|n\.?v|oy|ab|a\/s|universit\p{L}+|college|institute?|school|bank|foundation|stiftung|verein|association|ministry|hospital|klinik(?:um)?)\.?$|^(?:universi\p{L}+|institute?|ministry|department) /iu;
const POSTAL =
  /\b\d{4,6}\b|\d.*\b(?:street|st|road|rd|avenue|ave|suite|floor)\b|stra(?:ß|ss)e |str\. |(?:^|\s)(?:calle|rue|via|avenida)\s/iu;
const NAME = /^\p{Lu}[\p{L}'’-]*\.?(?: (?:\p{Ll}{1,3} ){0,2}\p{Lu}[\p{L}'’-]*\.?){1,3}$/u;
const TITLES = /^(?:(?:i\. ?[AV]\.|ppa\.|Dr\.|Prof\.|Dipl\.-\p{L}+\.?|Mr|Mrs|Ms|Herr|Frau)\s+)+/u;

/** Turns the signatures in the body of a mail into records about their writer; `sender` is the one who has no name in it. */
export function readSignatures(blocks: readonly DocumentBlock[], sender: string | null): DocumentBlock[] {
  const found: DocumentBlock[] = [];
  let run: DocumentBlock[] = [];
  const close = (): void => {
    append(found, readParagraphs(run, sender));
    run = [];
  };
  for (const block of blocks) {
    if (block.kind === 'paragraph') run.push(block);
    else {
      close();
      found.push(block);
    }
  }
  close();
  return found;
}

function readParagraphs(blocks: readonly DocumentBlock[], sender: string | null): readonly DocumentBlock[] {
  const lines = blocks.flatMap(({ text }, at) => (at === 0 ? text.split('\n') : ['', ...text.split('\n')]));
  const found: DocumentBlock[] = [];
  let from = 0;
  for (let at = 0; at < lines.length; at++) {
    const line = unquoted(lines[at] ?? '');
    const signature = DELIMITER.test(line) || SIGN_OFF.test(line) ? signatureAt(lines, at, sender) : null;
    if (signature === null) continue;
    append(found, paragraphBlocks(lines.slice(from, at).join('\n')));
    found.push({ kind: 'record', text: signature.lines.join('\n') });
    from = signature.end;
    at = from - 1;
  }
  return from === 0 ? blocks : [...found, ...paragraphBlocks(lines.slice(from).join('\n'))];
}

function unquoted(line: string): string {
  return line
    .slice(0, 2 * MAX_LINE)
    .replace(/^(?:> ?)+/u, '')
    .trimEnd();
}

/** The signature below a line, as `key: value` lines; null when the lines there are none. */
function signatureAt(text: readonly string[], opening: number, sender: string | null) {
  const isDelimiter = (line: string | undefined): boolean => DELIMITER.test(unquoted(line ?? ''));
  const lines: string[] = [];
  let end = opening + 1;
  for (; end < Math.min(text.length, opening + 2 * MAX_LINES) && lines.length < MAX_LINES; end++) {
    const line = unquoted(text[end] ?? '');
    if (QUOTATION.test(line) || line.length > MAX_LINE) break;
    if (line.trim() !== '' && !isDelimiter(line)) lines.push(line);
  }
  const entries = entriesOf(lines, sender);
  const stated = entries.filter(([key]) => /^(?:role|organisation|phone|email)$/u.test(key)).length;
  // A name below a greeting is a farewell.
  if (entries[0]?.[0] !== 'name' || stated < (isDelimiter(text[opening]) ? 1 : 2)) return null;
  return { lines: entries.map(([key, value]) => `${key}: ${value}`), end };
}

type Entry = readonly [key: string, value: string];

function entriesOf(lines: readonly string[], sender: string | null): Entry[] {
  const pieces = lines.flatMap((line) => line.split(/\s*[|•·⋅]\s*|\t+|\s{3,}/u)).map((piece) => piece.trim());
  const [opening = '', ...others] = pieces;
  const [first = '', ...rest] = opening
    .replace(TITLES, '')
    .replace(/ \([^()]*\)/u, '')
    .split(/,\s+/u);
  const hasName = NAME.test(first) && !COMPANY.test(first) && !ROLE.test(first);
  const name = fullName(hasName ? first : null, sender);
  const entries: Entry[] = name === null ? [] : [['name', name]];
  // `Jane` above `Jane Doe`
  const isName = (piece: string) =>
    name !== null && piece.split(' ').every((word) => name.toLowerCase().split(' ').includes(word.toLowerCase()));
  for (const piece of hasName ? [rest.join(', '), ...others] : pieces)
    if (piece !== '' && !isName(piece)) append(entries, entriesIn(piece, entries));
  return entries;
}

function entriesIn(piece: string, before: readonly Entry[]): Entry[] {
  const [, label = '', number] = PHONE.exec(piece) ?? [];
  const address = ADDRESS.exec(piece)?.[0];
  if (address !== undefined) return [['email', address]];
  if (number !== undefined) return [[/^(?:fax|telefax|f)$/iu.test(label) ? 'fax' : 'phone', number]];
  const link = LINK.exec(piece)?.[0];
  if (link !== undefined) return [['website', link]];
  if (POSTAL.test(piece) && !LEGAL.test(piece)) return [['office address', piece]];
  return LEGAL.test(piece) || /\d/u.test(piece) ? [['note', piece]] : officeIn(piece, before);
}

/** `Head of Sales, Acme GmbH`, `CTO at Globex`, a line with one of them. */
function officeIn(text: string, before: readonly Entry[]): Entry[] {
  const has = (wanted: string): boolean => before.some(([key]) => key === wanted);
  const [, left = '', right = ''] = /^(.+?)(?:,\s+|\s+(?:at|@|bei(?: der)?|chez|[–—-])\s+)(.+)$/u.exec(text) ?? [];
  if (ROLE.test(left) && right !== '' && !ROLE.test(right))
    return [
      ['role', left],
      ['organisation', right],
    ];
  if (ROLE.test(right) && COMPANY.test(left))
    return [
      ['organisation', left],
      ['role', right],
    ];
  const isRole = ROLE.test(text);
  if (COMPANY.test(text) && !(isRole && !has('role'))) return [['organisation', text]];
  if (isRole) return [['role', text]];
  // `CTO`, then `Globex`
  const isCompany = has('role') && !has('organisation') && /^\p{Lu}/u.test(text) && text.split(' ').length < 6;
  return [[isCompany ? 'organisation' : 'note', text]];
}

/** The sender's own spelling where the signature has it or a part of it. */
function fullName(name: string | null, sender: string | null): string | null {
  if (name === null || sender === null) return name ?? sender;
  const words = new Set(sender.toLowerCase().split(' '));
  return name
    .toLowerCase()
    .split(' ')
    .every((word) => words.has(word))
    ? sender
    : name;
}

import { append } from '../../../kernel/long-lists.ts';
import { personOfAddress } from '../../language/turns.ts';
import { isGivenName } from '../rules/entity-type.ts';
import { isKnownProduct } from '../rules/known-products.ts';
import { type Fact, type Named, type Reading, relationOf, type Span } from './fact.ts';
import { isProse, isYes, literalOf, nameList, plainText, typeOf, valueNamed } from './values.ts';

/** A key with its value, and where the line is. */
interface Entry extends Span {
  /** Keys from the outermost to its own; a number for a place in a list. */
  readonly path: readonly (string | number)[];
  readonly value: string;
}

/** Lines that are nested deeper are left out. */
const MAX_DEPTH = 20;
/** Characters of a header that are read: the addresses of some dozens. */
const MAX_HEADER = 2_000;
const NAME_KEY = /^(?:full_?)?name$|^title$|^label$|^summary$|^subject$/u;

interface RecordOptions {
  /** YAML, TOML and the like. */
  readonly isSettings: boolean;
  /** Keys with which records of a list begin. */
  readonly listed: ReadonlySet<string>;
}

/** Reads JSON (`address.city: Oslo`), YAML, TOML, INI, headers of mails, front matter. `about`: what the document is about. */
export function readRecords(text: string, about: string | null, { isSettings, listed }: RecordOptions): Reading {
  const groups = isSettings ? settingsGroups([...settingsEntries(text)]) : jsonRecords(text);
  const factsOf = (group: readonly Entry[]): Fact[] => {
    if (isMail(group)) return mailFacts(group);
    return recordFacts(group, about, !isSettings && listed.has(keyOf(group[0])) ? nameOfListed(group) : null);
  };
  return {
    facts: groups.flatMap(factsOf),
    skipped: proseCutOut(text, groups.flat()),
  };
}

const keyOf = (entry: Entry | undefined): string => entry?.path.join('.') ?? '';

/** Returns the keys with which several records begin: those of a list. */
export function listedKeys(texts: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [first] of jsonRecords(text)) counts.set(keyOf(first), (counts.get(keyOf(first)) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count > 1).map(([key]) => key));
}

const ID_KEY = /(?:^|_)(?:id|key|no|nr|number|isbn|sku|code)$/u;

/** What a record of a list goes by: its number (`order 4711`), else its first value of words. */
function nameOfListed(entries: readonly Entry[]): Named | null {
  const own = entries.filter(({ path }) => path.length === 1);
  const [first] = own;
  const relation = relationOf(keyOf(first));
  if (first !== undefined && ID_KEY.test(relation) && !isProse(first.value)) {
    const value = plainText(first.value);
    const isNumber = literalOf(value, '') !== null;
    const thing = relation.replace(/_?(?:id|key|no|nr|number|code)$/u, '').replaceAll('_', ' ');
    if (!isNumber || thing !== '') return { name: isNumber ? `${thing} ${value}` : value, type: 'Concept' };
  }
  const word = own.find(({ path, value }) => !isProse(value) && literalOf(value, relationOf(String(path[0]))) === null);
  return word === undefined ? null : named(plainText(word.value), relationOf(keyOf(word)));
}

/** Everything but values that are prose. */
function proseCutOut(text: string, entries: readonly Entry[]): Span[] {
  const skipped: Span[] = [];
  let start = 0;
  for (const entry of entries) {
    if (!isProse(entry.value)) continue;
    skipped.push({ start, end: entry.end - entry.value.length });
    start = entry.end;
  }
  return [...skipped, { start, end: text.length }];
}

/** One record between blank lines, its keys with their path. */
function jsonRecords(text: string): Entry[][] {
  const records: Entry[][] = [[]];
  for (const { 0: line, index } of text.matchAll(/^[^\n]*$/gmu)) {
    if (line.trim() === '') records.push([]);
    const pair = /^([^:\n]{1,300}): (.+)$/u.exec(line);
    if (pair === null) continue;
    const path = (pair[1] ?? '').split('.');
    records.at(-1)?.push({ path, value: (pair[2] ?? '').trim(), start: index, end: index + line.trimEnd().length });
  }
  return records.filter((record) => record.length > 0);
}

/** By indentation and sections. */
function* settingsEntries(text: string): Generator<Entry> {
  let section: string[] = [];
  let parents: { indent: number; key: string | number }[] = [];
  const counts = new Map<string, number>();
  let block: number | null = null;
  for (const { 0: line, index } of text.matchAll(/^[^\n]*\S[^\n]*$/gmu)) {
    const indent = line.length - line.trimStart().length;
    if (block !== null && indent > block) continue;
    block = null;
    if (/^\s*(?:[#;]|\/\/)/u.test(line)) continue;
    const head = /^\s*\[\[?([^\]=]+)\]\]?\s*$/u.exec(line)?.[1];
    if (head !== undefined) {
      section = head.split('.').map((part) => plainText(part));
      parents = [];
      continue;
    }
    const place = { index, end: index + line.trimEnd().length };
    const item = /^(\s*-\s+)(.*)$/u.exec(line);
    // An item of a list may be as far to the left as its key.
    parents = parents.filter((parent) =>
      item !== null && typeof parent.key === 'string' ? parent.indent <= indent : parent.indent < indent,
    );
    if (parents.length > MAX_DEPTH) continue;
    const list = parents.map(({ key }) => key);
    let rest = line.trim();
    let depth = indent;
    if (item !== null) {
      const key = [...section, ...list].join('\n');
      const at = counts.get(key) ?? 0;
      counts.set(key, at + 1);
      rest = item[2] ?? '';
      if (!/^["']?[\p{L}\w][^:=]{0,60}["']?\s*:(?:\s|$)/u.test(rest)) {
        yield { path: [...section, ...list], value: withoutComment(rest), start: place.index, end: place.end };
        continue;
      }
      parents.push({ indent, key: at });
      depth = indent + (item[1] ?? '').trimStart().length;
    }
    const pair = /^["']?([\p{L}_][\p{L}\p{N}_ ./-]{0,60}?)["']?\s*(?::(?=\s|$)|=)\s*(.*)$/u.exec(rest);
    if (pair === null) continue;
    const path = [...section, ...parents.map(({ key }) => key), pair[1] ?? ''];
    const value = withoutComment(pair[2] ?? '');
    if (/^[|>][+-]?$/u.test(value)) block = depth;
    else if (value === '') parents.push({ indent: depth, key: pair[1] ?? '' });
    else yield { path, value, start: place.index, end: place.end };
  }
}

function withoutComment(value: string): string {
  return value.replace(/\s+#\s.*$/u, '').trim();
}

/** Entries by their owner: the innermost item of a list, else the outermost key, or what a collection names below it. */
function settingsGroups(entries: readonly Entry[]): Entry[][] {
  const collections = collectionsIn(entries);
  const groupOf = ({ path }: Entry): string => {
    const item = path.findLastIndex((key) => typeof key === 'number');
    const depth = collections.has(path[0] ?? '') ? 2 : 1;
    return path.slice(0, item === -1 ? Math.min(depth, path.length - 1) : item + 1).join('\n');
  };
  return [...Map.groupBy(entries, groupOf).values()];
}

/** Outermost keys below which several things have keys of their own: `services` of containers. */
function collectionsIn(entries: readonly Entry[]): ReadonlySet<string | number> {
  const byKey = Map.groupBy(entries, ({ path }) => path[0] ?? '');
  const isCollection = (own: readonly Entry[]): boolean =>
    own.every(({ path }) => path.length > 2 && typeof path[1] === 'string') &&
    new Set(own.map(({ path }) => path[1])).size > 1;
  return new Set([...byKey].filter(([, own]) => isCollection(own)).map(([key]) => key));
}

function recordFacts(entries: readonly Entry[], about: string | null, listed: Named | null = null): Fact[] {
  const prefix = commonPath(entries);
  const own = entries.find(
    ({ path }) => path.length === prefix.length + 1 && NAME_KEY.test(relationOf(String(path.at(-1)))),
  );
  const owner = own === undefined || isProse(own.value) ? null : plainText(own.value);
  const keys = prefix.filter((key) => typeof key === 'string');
  const isOfAbout = owner === null && keys.length === 0;
  const subject = isOfAbout ? (listed ?? titled(about)) : named(owner ?? String(keys.at(-1)), '');
  if (subject === null || (owner === null && typeof prefix.at(-1) === 'number')) return [];
  // Cards of an address book, signatures of mails, data of a person above a curriculum.
  const keyNames = entries.map(({ path }) => relationOf(String(path.at(-1))));
  const isPerson = owner !== null && keyNames.some((key) => /^(?:role|phone|email)$/u.test(key));
  if (subject.type === 'Concept' && owner !== null && keyNames.some((key) => OF_ONE_PERSON.test(key)))
    Object.assign(subject, { type: 'Person' });
  const facts = entries.flatMap(({ path, value }): Fact[] => {
    const relation = relationOf(
      path
        .slice(prefix.length)
        .filter((key) => typeof key === 'string')
        .join(' ') || String(path.at(-1)),
    );
    if (relation === '' || plainText(value) === (owner ?? listed?.name)) return [];
    const stated = isPerson && relation === 'organisation' ? 'work_at' : relation;
    const evidence = `${subject.name}, ${relation.replaceAll('_', ' ')}: ${plainText(value)}`;
    const birth = BORN.test(relation) ? birthOf(value) : [];
    if (birth.length > 0) return birth.map((one) => ({ ...one, subject, evidence }));
    const offices = officesIn(value).map((one) => ({ ...one, subject, evidence }));
    return [
      ...valuesOf(value, relation).map((one) => ({ subject, relation: stated, value: one, evidence })),
      ...offices,
    ];
  });
  const whole = titled(about);
  if (facts.length === 0 || whole === null || keys.length === 0 || whole.name === subject.name) return facts;
  // `services: mqtt:` makes mqtt one of the services.
  const outer = String(keys.at(-2) ?? '');
  const isListed = owner === null && /[^s]s$/u.test(outer);
  const relation = isListed ? relationOf(outer) : owner === null ? 'has' : relationOf(keys.join(' '));
  return [
    { subject: whole, relation, value: subject, evidence: `${whole.name}, ${keys.join(' ')}: ${subject.name}` },
    ...facts,
  ];
}

/** Keys of what only a person has. */
const OF_ONE_PERSON =
  /^(?:born|date_of_birth|birth_?(?:date|day|place)|dob|place_of_birth|nationality|marital_status|gender|occupation|profession|geboren(?:_am|_in)?|geburts\p{L}+|familienstand|staatsangehörigkeit|beruf|nacimiento|fecha_de_nacimiento|lugar_de_nacimiento|estado_civil|nacionalidad|profesión|née?(?:_le)?|date_de_naissance|lieu_de_naissance|nationalité|situation_familiale)$/u;

const BORN =
  /^(?:born|date_of_birth|birth_?date|birthday|dob|geboren(?:_am)?|geburtsdatum|fecha_de_nacimiento|nacimiento|née?(?:_le)?|date_de_naissance)(?:_on)?$/u;
const DAY_AND_PLACE = /^(.{4,30}?),? (?:in|à|en) (\p{Lu}[\p{L}' -]{1,40})$/u;

/** When and where somebody was born: `22. November 1989 in Regensburg`. */
function birthOf(value: string): Omit<Fact, 'subject' | 'evidence'>[] {
  const [, day = plainText(value), place] = DAY_AND_PLACE.exec(plainText(value)) ?? [];
  const date = literalOf(day, 'date');
  if (date?.type !== 'Date') return [];
  const born = { relation: 'born_on', value: date };
  return place === undefined ? [born] : [born, { relation: 'born_in', value: { name: place, type: 'Place' } }];
}

/** Offices behind the names of a list: `Doreen Hatch (chair), Kofi Asante`. */
function officesIn(value: string): Omit<Fact, 'subject' | 'evidence'>[] {
  if (!value.includes(' (') || nameList(value) === null) return [];
  return [...value.matchAll(/(\p{Lu}[\p{L}.'’ -]{2,40}) \((\p{Ll}{3,20}(?: \p{Ll}{3,20})?)\)/gu)].map(
    ([, name = '', office = '']) => ({ relation: relationOf(office), value: { name, type: 'Person' } }),
  );
}

/** Titles are longer than other names. */
const MAX_TITLE = 80;

const ABOUT = /^\p{L}+ (?:from|for|about|to|with|on) /u;

function titled(title: string | null): Named | null {
  if (title === null || title === '' || title.length > MAX_TITLE) return null;
  // `Note from the school` is no school.
  return { name: title, type: ABOUT.test(title) ? 'Concept' : typeOf(title, '') };
}

function named(name: string | null, relation: string): Named | null {
  return name === null || name === '' || isProse(name) ? null : { name, type: typeOf(name, relation) };
}

/** `Lisbon, Portugal` is one place. */
function isPlace(relation: string): boolean {
  return /place|location|address|city|^(?:where|venue|ort|lieu|lugar)$/u.test(relation);
}

function commonPath(entries: readonly Entry[]): readonly (string | number)[] {
  let common = entries[0]?.path.slice(0, -1) ?? [];
  for (const { path } of entries) {
    let length = 0;
    while (length < common.length && length < path.length - 1 && path[length] === common[length]) length++;
    common = common.slice(0, length);
  }
  return common;
}

/** `[a, b]` and lists of short words are several values. */
function valuesOf(text: string, relation: string): Named[] {
  const inner = /^\[(.*)\]$/u.exec(text)?.[1];
  const names = isPlace(relation) ? null : (productsIn(plainText(text)) ?? nameList(plainText(text)));
  const parts = names ?? (inner ?? text).split(/[,;]\s+/u).map(plainText);
  const isList =
    names !== null ||
    inner !== undefined ||
    (parts.length > 1 && parts.every((part) => /^\p{Ll}[\p{L}-]*(?: \p{L}+)?$/u.test(part))) ||
    text.includes('; ');
  return (isList ? parts : [plainText(text)]).flatMap((part) => {
    if (isYes(part)) return [];
    const value = valueNamed(part, relation);
    return value === null ? [] : [value];
  });
}

/** `SvelteKit with Tailwind CSS`, `Django / PostgreSQL`: two products; null when one of them is not known. */
function productsIn(text: string): string[] | null {
  const names = text.split(/ (?:with|and|on|\+|&|\/) /u);
  return names.length > 1 && names.every(isKnownProduct) ? names : null;
}

function isMail(entries: readonly Entry[]): boolean {
  const keys = new Set(entries.map(({ path }) => String(path.at(-1)).toLowerCase()));
  return keys.has('from') && (keys.has('to') || keys.has('subject'));
}

/** Marks of answers and forwarded mails. */
const REPLY = /^(?:(?:re|aw|fwd?|wg|tr|rv)(?:\[\d+\])?:\s*)+/iu;

/** `info@example.com` is nobody. */
function isRole(address: string, name: string): boolean {
  return !/[ <]/u.test(address.trim()) && !name.includes(' ') && !isGivenName(name.toLowerCase());
}

function mailFacts(entries: readonly Entry[]): Fact[] {
  const of = (key: string): string =>
    entries.find(({ path }) => String(path.at(-1)).toLowerCase() === key)?.value ?? '';
  const persons = (key: string): Named[] =>
    of(key)
      .slice(0, MAX_HEADER)
      .split(/,(?=[^,]{0,200}@)/u)
      .map((address) => ({ address, name: personOfAddress(address) }))
      .filter(({ name }) => name !== '' && !isProse(name))
      .map(({ address, name }) => ({ name, type: isRole(address, name) ? 'Concept' : 'Person' }));
  const mail = named(plainText(of('subject')).replace(REPLY, ''), '');
  const date = valueNamed(
    of('date')
      .replace(/^\p{L}+, /u, '')
      .replace(/ \d\d:\d\d.*$/u, ''),
    'date',
  );
  const facts: Fact[] = [];
  const state = (subject: Named | null, relation: string, value: Named | null): void => {
    if (subject === null || value === null) return;
    facts.push({
      subject,
      relation,
      value,
      evidence: `From: ${of('from')}, To: ${of('to')}, Subject: ${of('subject')}`.slice(0, MAX_HEADER),
    });
  };
  for (const key of ['from', 'to', 'cc']) for (const person of persons(key)) state(mail, key, person);
  for (const sender of persons('from')) for (const reader of persons('to')) state(sender, 'write_to', reader);
  state(mail, 'date', date);
  return facts;
}

const KEY = String.raw`[\p{Lu}\p{Ll}][\p{L}\p{N} /&-]{0,39}?`;
const LINE = new RegExp(
  String.raw`^[ \t]*(?:[-*•+][ \t]+)?(?:\*\*|__)?(${KEY})(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]+(\S[^\n]*)$`,
  'u',
);
/** Words before a colon that name no property. */
const NO_KEY =
  /^(?:note|notes|warning|caution|important|tip|hint|example|examples|todo|fixme|see|see also|question|answer|q|a|user|assistant|human|ai|bot|system|summary|conclusion|ps|p s|update|edit|fix|feat|https?|attachments?)$/iu;

/** Reads `Email: a@example.com` lines among prose: only short values, which are no sentences. */
export function readKeyValues(text: string, about: string | null): Reading {
  const whole = readLines(text, 0, about);
  if (whole.skipped.length > 0 || !text.includes('\n\n')) return whole;
  // A header above letters, the data of a person above a curriculum: paragraphs of their own.
  const facts: Fact[] = [];
  const skipped: Span[] = [];
  let subject = about;
  let start = 0;
  for (const block of text.split('\n\n')) {
    const found = block.includes(':') ? readLines(block, start, subject) : NOTHING;
    // One such line by itself may be anything: `Session: 12`.
    const reading = found.skipped.length < 2 ? NOTHING : found;
    append(facts, reading.facts);
    append(skipped, reading.skipped);
    // What follows the data of a person is about that person.
    const [first] = reading.facts;
    if (subject === about && isOfPerson(first)) subject = first.subject.name;
    start += block.length + 2;
  }
  return { facts, skipped };
}

const NOTHING: Reading = { facts: [], skipped: [] };

/** Whether a record gives data of a person: no mail, and no minutes. */
export function isOfPerson(fact: Fact | undefined): fact is Fact {
  return (
    fact?.subject.type === 'Person' &&
    /^(?:born_\p{L}+|\p{L}*address|anschrift|nationality|phone|email)$/u.test(fact.relation)
  );
}

/** The same for lines that belong together, which begin at an offset. */
function readLines(text: string, offset: number, about: string | null): Reading {
  const lines = [...text.matchAll(/^[^\n]*\S[^\n]*$/gmu)];
  const entries = lines.flatMap(({ 0: line, index }): Entry[] => {
    const pair = LINE.exec(line);
    const [, key = '', value = ''] = pair ?? [];
    const isValue =
      (!isProse(value) || nameList(value) !== null) &&
      !/(?:\p{L}{2}|["”)])[.!?…]["”]?$/u.test(value) &&
      !/^[[({]/u.test(value);
    const isKey = key !== '' && key.split(' ').length <= 4 && !NO_KEY.test(key) && !/\b(?:I|we|you)\b/u.test(value);
    const start = offset + index;
    return isKey && isValue ? [{ path: [key], value: value.trim(), start, end: start + line.length }] : [];
  });
  // One such line among sentences may be anything.
  if (entries.length === 0 || entries.length * 2 < lines.length) return { facts: [], skipped: [] };
  if (entries.length === 1 && !entries.every(({ path, value }) => isCertain(value, relationOf(String(path[0])))))
    return { facts: [], skipped: [] };
  const facts = isMail(entries) ? mailFacts(entries) : recordFacts(entries, about);
  return { facts, skipped: facts.length === 0 ? [] : entries };
}

/** `Status: accepted` needs no other lines beside it. */
const PROPERTY = /^(?:status|state|priority|severity|owner|author|assignee|deadline)$/u;

function isCertain(value: string, relation: string): boolean {
  if (PROPERTY.test(relation)) return true;
  return /^\S*[@/]\S*$|\d/u.test(value) && valueNamed(plainText(value), relation) !== null;
}

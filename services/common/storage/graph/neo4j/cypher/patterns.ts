import { quoted, type Translation } from './translation.ts';

/** A comma-separated list of patterns, as in MATCH. */
export function patternList(translation: Translation): string {
  const patterns = [pattern(translation)];
  while (translation.reader.takeSign(',')) patterns.push(pattern(translation));
  return patterns.join(', ');
}

/** `[p =] path`, or a shortest path. */
export function pattern(translation: Translation): string {
  const { reader } = translation;
  let name = '';
  if (reader.isSign('=', 1)) {
    name = `${quoted(reader.name())} = `;
    reader.expectSign('=');
  }
  return name + (shortestPath(translation) ?? path(translation, 0));
}

/** Null when something else stands here. */
export function shortestPath(translation: Translation): string | null {
  const { reader } = translation;
  const name = ['shortestPath', 'allShortestPaths'].find((word) => reader.isWord(word.toUpperCase()));
  if (name === undefined || !reader.isSign('(', 1)) return null;
  reader.take();
  reader.expectSign('(');
  const inner = path(translation, 1);
  reader.expectSign(')');
  return `${name}(${inner})`;
}

/** Nodes joined by at least so many relationships. */
export function path(translation: Translation, atLeast: number): string {
  let text = node(translation);
  let relationships = 0;
  for (; startsRelationship(translation); relationships++) text += relationship(translation) + node(translation);
  if (relationships < atLeast) translation.reader.refuse();
  return text;
}

/**
 * Every node of a query is read here and bears the label of the dataset from here on; this is what keeps a query in its
 * dataset. Whatever else a query can hold (relationships, inner nodes of a path, ends of a relationship) it reaches from
 * such a node, and relationships of the view never leave a dataset.
 */
function node(translation: Translation): string {
  const { reader, label } = translation;
  return reader.nested(() => {
    reader.expectSign('(');
    const isNamed = (reader.peek().kind === 'name' || reader.peek().kind === 'quoted') && !startsWhere(translation);
    const name = isNamed ? quoted(reader.name()) : '';
    const labels = reader.takeSign(':') ? `&(${labelExpression(translation, true)})` : '';
    const text = `(${name}:${quoted(label)}${labels}${properties(translation)}${where(translation)})`;
    reader.expectSign(')');
    return text;
  });
}

function relationship(translation: Translation): string {
  const { reader } = translation;
  const isLeft = reader.takeSign('<');
  reader.expectSign('-');
  const detail = reader.takeSign('[') ? relationshipDetail(translation) : '';
  reader.expectSign('-');
  const isRight = reader.takeSign('>');
  return `${isLeft ? '<' : ''}-${detail}-${isRight ? '>' : ''}`;
}

function relationshipDetail(translation: Translation): string {
  const { reader } = translation;
  const isNamed = (reader.peek().kind === 'name' || reader.peek().kind === 'quoted') && !startsWhere(translation);
  const name = isNamed ? quoted(reader.name()) : '';
  const types = reader.takeSign(':') ? `:${labelExpression(translation, true)}` : '';
  const text = `[${name}${types}${hops(translation)}${properties(translation)}${where(translation)}]`;
  reader.expectSign(']');
  return text;
}

/** `*`, `*2`, `*1..3`, `*..3`, `*1..` */
function hops(translation: Translation): string {
  const { reader } = translation;
  if (!reader.takeSign('*')) return '';
  const bound = () => (reader.peek().kind === 'number' ? wholeNumber(translation) : '');
  const least = bound();
  return reader.takeSign('..') ? `*${least}..${bound()}` : `*${least}`;
}

/** A label, type, or a combination of them; alternatives (`A|B`) only where a bar can mean nothing else. */
export function labelExpression(translation: Translation, hasAlternatives: boolean): string {
  const { reader } = translation;
  return reader.nested(() => {
    const conjunctions = [labelConjunction(translation)];
    while (hasAlternatives && reader.takeSign('|')) {
      // `:A|:B` is an older way to write `:A|B`.
      reader.takeSign(':');
      conjunctions.push(labelConjunction(translation));
    }
    return conjunctions.join('|');
  });
}

function labelConjunction(translation: Translation): string {
  const { reader } = translation;
  const labels = [labelAtom(translation)];
  while (reader.takeSign('&') || reader.takeSign(':')) labels.push(labelAtom(translation));
  return labels.join('&');
}

function labelAtom(translation: Translation): string {
  const { reader } = translation;
  return reader.nested(() => {
    if (reader.takeSign('!')) return `!${labelAtom(translation)}`;
    if (reader.takeSign('%')) return '%';
    if (!reader.takeSign('(')) return quoted(reader.name());
    const inner = labelExpression(translation, true);
    reader.expectSign(')');
    return `(${inner})`;
  });
}

function properties(translation: Translation): string {
  return translation.reader.isSign('{') ? ` ${mapLiteral(translation)}` : '';
}

export function mapLiteral(translation: Translation): string {
  const { reader } = translation;
  reader.expectSign('{');
  const entries: string[] = [];
  while (!reader.isSign('}')) {
    if (entries.length > 0) reader.expectSign(',');
    const key = quoted(reader.name());
    reader.expectSign(':');
    entries.push(`${key}: ${translation.expression()}`);
  }
  reader.expectSign('}');
  return `{${entries.join(', ')}}`;
}

/** The optional condition of a pattern or a clause. */
export function where(translation: Translation): string {
  return translation.reader.takeWord('WHERE') ? ` WHERE ${translation.expression()}` : '';
}

export function wholeNumber({ reader }: Translation): string {
  const { kind, text } = reader.take();
  if (kind !== 'number' || !/^\d{1,9}$/.test(text)) reader.refuse('A whole number is needed here.');
  return text;
}

function startsRelationship({ reader }: Translation): boolean {
  const dash = reader.isSign('<') ? 1 : 0;
  return reader.isSign('-', dash) && (reader.isSign('-', dash + 1) || reader.isSign('[', dash + 1));
}

/** A node or relationship without a name but with a condition. */
function startsWhere({ reader }: Translation): boolean {
  return reader.isWord('WHERE') && reader.peek(1).kind !== 'sign';
}

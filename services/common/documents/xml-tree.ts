import { XMLParser } from 'fast-xml-parser';
import { engramError } from '../domain/errors.ts';
import type { ParseContext } from './limits.ts';

export interface XmlElement {
  /** With its prefix, as written. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (XmlElement | string)[];
}

/**
 * Parses XML without ever expanding an entity that a document declares: a document type with entity declarations is refused, so
 * neither an entity bomb nor a reference to a local file can do anything. Errors: `UnreadableFileContentError`.
 */
export function parseXml(source: string, context: ParseContext): XmlElement {
  if (source.includes('<!ENTITY')) {
    throw engramError(
      'UnreadableFileContentError',
      `'${context.fileName}' cannot be read: its XML declares entities, which are not expanded`,
    );
  }
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    cdataPropName: '#cdata',
    processEntities: false,
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    maxNestedTags: context.limits.maxDepth,
  });
  try {
    return convert('', {}, parser.parse(source) as readonly OrderedNode[]);
  } catch (error) {
    throw engramError(
      'UnreadableFileContentError',
      `'${context.fileName}' cannot be read: its XML is not well-formed or nested too deeply`,
      {
        cause: error,
      },
    );
  }
}

/** What the parser gives with `preserveOrder`: one key with the children, beside it the attributes. */
type OrderedNode = Readonly<Record<string, unknown>>;

function convert(
  name: string,
  attributes: Readonly<Record<string, string>>,
  nodes: readonly OrderedNode[],
): XmlElement {
  const children: (XmlElement | string)[] = [];
  for (const node of nodes) {
    for (const key in node) {
      if (key === ':@' || key.startsWith('?')) continue;
      const value = node[key];
      if (key === '#text') children.push(decodeXmlText(String(value)));
      else if (key === '#cdata') children.push(cdataText(value));
      else children.push(convert(key, decodeAttributes(node[':@']), value as readonly OrderedNode[]));
    }
  }
  return { name, attributes, children };
}

function cdataText(value: unknown): string {
  return Array.isArray(value) ? value.map((part: OrderedNode) => String(part['#text'] ?? '')).join('') : String(value);
}

function decodeAttributes(raw: unknown): Record<string, string> {
  const attributes: Record<string, string> = {};
  if (raw === undefined || raw === null) return attributes;
  for (const [key, value] of Object.entries(raw as Record<string, unknown>))
    attributes[key] = decodeXmlText(String(value));
  return attributes;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** The five predefined entities and character references; anything else stays as it is written. */
export function decodeXmlText(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{1,8});/gi, (written, reference: string) => {
    if (!reference.startsWith('#')) return NAMED[reference] ?? written;
    const isHex = reference[1] === 'x' || reference[1] === 'X';
    const code = Number.parseInt(reference.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}

export function localName(element: XmlElement): string {
  const colon = element.name.indexOf(':');
  return colon === -1 ? element.name : element.name.slice(colon + 1);
}

/** Attribute by local name; `prefix` where two attributes share it (`id` and `r:id`). */
export function attribute(element: XmlElement, name: string, prefix?: string): string | null {
  for (const [key, value] of Object.entries(element.attributes)) {
    if (prefix !== undefined) {
      if (key === `${prefix}:${name}`) return value;
    } else if (key === name || key.endsWith(`:${name}`)) return value;
  }
  return null;
}

export function childElements(element: XmlElement, name?: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => typeof child !== 'string' && (name === undefined || localName(child) === name),
  );
}

export function firstChild(element: XmlElement | null, name: string): XmlElement | null {
  return element === null ? null : (childElements(element, name)[0] ?? null);
}

/** All descendants of a local name, in document order. */
export function* descendants(element: XmlElement, name: string): Generator<XmlElement> {
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (localName(child) === name) yield child;
    yield* descendants(child, name);
  }
}

export function firstDescendant(element: XmlElement | null, name: string): XmlElement | null {
  if (element === null) return null;
  for (const found of descendants(element, name)) return found;
  return null;
}

export function textOf(element: XmlElement): string {
  let text = '';
  for (const child of element.children) text += typeof child === 'string' ? child : textOf(child);
  return text;
}

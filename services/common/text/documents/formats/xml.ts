import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import type { ParseContext } from './limits.ts';
import { localName, parseXml, textOf, type XmlElement } from './xml-tree.ts';

/**
 * The text stays as written. Blocks: an element that holds only text or mixed content is a paragraph led by its name; elements whose
 * children are all plain values (a record) become one block of `name: value` lines; comments and processing instructions go.
 */
export function readXml(text: string, context: ParseContext): DocumentDraft {
  const root = parseXml(text, context);
  const blocks: DocumentBlock[] = [];
  for (const child of root.children) if (typeof child !== 'string') collect(child, blocks);
  return { text, blocks, title: titleOf(root) };
}

function collect(element: XmlElement, blocks: DocumentBlock[]): void {
  const children = element.children.filter((child) => typeof child !== 'string');
  const hasOwnText = element.children.some((child) => typeof child === 'string' && child.trim() !== '');
  if (children.length === 0 || hasOwnText) {
    const text = plainValue(element);
    if (text !== '') blocks.push({ kind: 'paragraph', text: labelled(element, text) });
    return;
  }
  if (children.every(isPlainValue)) {
    const lines = [...attributeLines(element), ...children.map((child) => labelled(child, plainValue(child)))];
    const filled = lines.filter((line) => line !== '');
    blocks.push({ kind: filled.length > 1 ? 'record' : 'paragraph', text: filled.join('\n') });
    return;
  }
  const own = attributeLines(element);
  if (own.length > 0) blocks.push({ kind: 'paragraph', text: own.join('\n') });
  let list: string | null = null;
  for (const [at, child] of children.entries()) {
    // Records of one kind stand below its name: `book`.
    const next = children[at + 1];
    const isFirst = next !== undefined && localName(next) === localName(child) && list !== localName(child);
    if (isFirst && child.children.some((inner) => typeof inner !== 'string')) {
      list = localName(child);
      blocks.push({ kind: 'heading', level: 2, text: list });
    }
    collect(child, blocks);
  }
}

function isPlainValue(element: XmlElement): boolean {
  return element.children.every((child) => typeof child === 'string') && textOf(element).length < 400;
}

function plainValue(element: XmlElement): string {
  const text = textOf(element).replaceAll(/\s+/g, ' ').trim();
  const [only, ...others] = Object.entries(element.attributes);
  // `<price currency="EUR">9.80</price>`
  if (only !== undefined && others.length === 0 && /^(?:currency|unit|uom)$/iu.test(only[0]) && /\d$/u.test(text))
    return `${text} ${only[1]}`;
  const attributes = attributeLines(element).join(', ');
  if (text === '') return attributes;
  return attributes === '' ? text : `${text} (${attributes})`;
}

function labelled(element: XmlElement, text: string): string {
  return text === '' ? '' : `${localName(element)}: ${text}`;
}

/** Attributes that only serve machines (namespaces, styles, coordinates) go. */
function attributeLines(element: XmlElement): string[] {
  return Object.entries(element.attributes)
    .filter(
      ([name, value]) =>
        !/^(xmlns|xsi:|xml:|style$|class$|d$|transform$|viewBox$)/.test(name) &&
        value.trim() !== '' &&
        value.length < 500,
    )
    .map(([name, value]) => `${name}: ${value}`);
}

function titleOf(root: XmlElement): string | null {
  const document = root.children.find((child) => typeof child !== 'string');
  if (document === undefined || typeof document === 'string') return null;
  const queue: XmlElement[] = [document];
  for (let looked = 0; looked < 50; looked += 1) {
    const element = queue.shift();
    if (element === undefined) return null;
    if (localName(element) === 'title') return textOf(element);
    for (const child of element.children) if (typeof child !== 'string') queue.push(child);
  }
  return null;
}

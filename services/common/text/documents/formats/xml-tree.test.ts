import { expect } from 'chai';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { defaultDocumentLimits, type ParseContext } from './limits.ts';
import { parseXml, textOf, type XmlElement } from './xml-tree.ts';

const context: ParseContext = { fileName: 'a.xml', declaredMimeType: undefined, limits: defaultDocumentLimits };

describe('XML tree', () => {
  const shape = (element: XmlElement): unknown => ({
    [element.name]: element.children.map((child) => (typeof child === 'string' ? child : shape(child))),
    ...(Object.keys(element.attributes).length === 0 ? {} : { '@': element.attributes }),
  });
  const parse = (source: string): unknown =>
    parseXml(source, context).children.map((child) => (typeof child === 'string' ? child : shape(child)));

  it('reads elements, attributes, text, CDATA and character references', () => {
    const source = `<?xml version="1.0"?><!DOCTYPE a [<!ELEMENT a ANY>]><!-- <no/> --><w:a x='1 > 0' y:z="&quot;&#x41;&#66;">t &amp; <b/><![CDATA[<raw> & ]]></w:a >`;
    expect(parse(source)).to.deep.equal([
      { 'w:a': ['t & ', { b: [] }, '<raw> & '], '@': { x: '1 > 0', 'y:z': '"AB' } },
    ]);
  });

  it('agrees with an independent parser on any document', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9:_-]{0,6}$/).filter((text) => !text.endsWith(':'));
    const text = fc
      .string({ minLength: 1 })
      .map((value) => value.replaceAll(/[<>&\p{Cc}\ufffe\uffff]/gu, '').toWellFormed());
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc
        .tuple(
          name,
          fc.array(
            fc.tuple(
              name,
              text.map((value) => value.replaceAll('"', '')),
            ),
            { maxLength: 3 },
          ),
          fc.array(
            fc.oneof(
              { depthSize: 'small' },
              text.filter((value) => value.trim() !== ''),
              fc.constant('<!-- c -->'),
              tie('tree'),
            ),
            { maxLength: 4 },
          ),
        )
        .map(([tag, attributes, inner]) => {
          const unique = [...new Map(attributes)].map(([key, value]) => ` ${key}="${value}"`).join('');
          return inner.length === 0 ? `<${tag}${unique}/>` : `<${tag}${unique}>${inner.join('')}</${tag}>`;
        }),
    }));
    const other = new XMLParser({
      preserveOrder: true,
      ignoreAttributes: false,
      attributeNamePrefix: '',
      processEntities: false,
      parseTagValue: false,
      trimValues: false,
    });
    type Node = Record<string, unknown>;
    const otherShape = (nodes: readonly Node[]): unknown[] =>
      nodes.map((node) => {
        const key = Object.keys(node).find((candidate) => candidate !== ':@') ?? '';
        if (key === '#text') return String(node[key]);
        const attributes = (node[':@'] as Node | undefined) ?? {};
        return {
          [key]: otherShape(node[key] as Node[]),
          ...(Object.keys(attributes).length === 0 ? {} : { '@': attributes }),
        };
      });
    const joined = (value: unknown): unknown => {
      if (!Array.isArray(value))
        return typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, joined(inner)]))
          : value;
      const parts: unknown[] = [];
      for (const part of value) {
        const last = parts.at(-1);
        if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
        else parts.push(joined(part));
      }
      return parts;
    };
    fc.assert(
      fc.property(tree, (source) => {
        expect(joined(parse(source))).to.deep.equal(joined(otherShape(other.parse(source) as Node[])));
      }),
      { numRuns: 150 },
    );
  });

  it('refuses documents that are malformed, too deep, or declare entities', () => {
    for (const source of [
      '<a>',
      '<a></b>',
      '</a>',
      '<a b=c/>',
      '<a b="c>',
      '<a><!-- ',
      'a < b',
      '<a><b></a></b>',
      '<',
    ]) {
      expect(() => parse(source), source).to.throw(/not well-formed/);
    }
    expect(() => parse(`${'<a>'.repeat(300)}${'</a>'.repeat(300)}`)).to.throw(/nested more than 200/);
    expect(() => parse('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')).to.throw(
      /declares entities/,
    );
  });

  it('leaves unknown references as they are written', () => {
    const [root] = parseXml('<a>&x; &#xFFFFFF; &#0;</a>', context).children;
    expect(textOf(root as XmlElement)).to.equal('&x; \ufffd \0');
  });
});

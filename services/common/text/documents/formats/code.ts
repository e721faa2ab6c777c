import type { Node } from 'web-tree-sitter';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { DEFINITIONS, nameOf, separatorOf } from './code-definitions.ts';
import { readFacts, readFactsOfLines } from './code-facts.ts';
import type { CodeLanguage } from './code-languages.ts';
import type { DocumentDraft } from './draft.ts';
import type { Grammars } from './tree-sitter.ts';

/** Maximum size for parsing: larger files are data in the form of code (bundles, tables), and their tree would need gigabytes. */
const MAX_PARSED_CHARACTERS = 4 * 1024 * 1024;

/** Reads code: the text verbatim, the blocks as definitions with their comments and qualified names. */
export async function readCode(text: string, code: CodeLanguage, grammars: Grammars): Promise<DocumentDraft> {
  const normal = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  const { language, grammar } = code;
  const parser = grammar === null || normal.length > MAX_PARSED_CHARACTERS ? null : await grammars.parser(grammar);
  const tree = parser?.parse(normal) ?? null;
  if (parser === null || tree === null)
    return { text, blocks: blankLineBlocks(normal, language), code: readFactsOfLines(normal, language) };
  try {
    const blocks = splitByDefinition(tree.rootNode, normal, language);
    return { text, blocks, code: readFacts(tree.rootNode, normal, language) };
  } finally {
    tree.delete();
    parser.delete();
  }
}

/**
 * Splits code in a language without a grammar: a block begins at a line without indentation after a blank line, so that the
 * body of a function stays with its head.
 */
function blankLineBlocks(text: string, language: string): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  let lines: string[] = [];
  let afterBlank = false;
  const close = (): void => {
    if (lines.some((line) => line.trim() !== '')) blocks.push({ kind: 'code', text: lines.join('\n'), language });
    lines = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    if (afterBlank && /^[^\s})\]]/.test(line)) close();
    afterBlank = line.trim() === '';
    lines.push(line);
  }
  close();
  return blocks;
}

/** Characters above which a class or namespace is split into its members. */
const SPLIT_ABOVE = 2_000;

/** Minimum lines of a constant that is a definition of its own (tables, configuration objects, schemas). */
const LONG_VALUE_LINES = 4;

/** Maximum indentation searched before a definition. */
const MAX_INDENT = 400;

/** Nodes that only wrap a definition, which gives the name. */
const WRAPPERS = new Set([
  'export_statement',
  'decorated_definition',
  'template_declaration',
  'ambient_declaration',
  'expression_statement',
  'declaration',
]);

/** Transparent nodes, whose children count as top-level: header guards, `extern "C"`, file-wide namespaces. */
const TRANSPARENT = new Set([
  'preproc_ifdef',
  'preproc_if',
  'preproc_else',
  'linkage_specification',
  'declaration_list',
]);

/** Nodes before a definition that belong to it. */
const LEADING = new Set(['comment', 'line_comment', 'block_comment', 'attribute_item', 'attribute_list', 'decorator']);

interface Cut {
  readonly at: number;
  readonly symbol: string | null;
}

/**
 * Splits a source file at its definitions. The blocks cover the whole text: code between definitions (imports, statements)
 * becomes blocks without a symbol; comments and attributes directly above a definition belong to it.
 */
function splitByDefinition(root: Node, text: string, language: string): DocumentBlock[] {
  const separator = separatorOf(language);
  const cuts: Cut[] = [];
  new DefinitionFinder(text, separator, cuts).visitSiblings(root, []);
  return cuts.flatMap((cut, index): DocumentBlock[] => {
    const end = cuts[index + 1]?.at ?? text.length;
    const part = text.slice(index === 0 ? 0 : cut.at, end);
    if (part.trim() === '') return [];
    return [{ kind: 'code', text: part, language, ...(cut.symbol === null ? {} : { symbol: cut.symbol }) }];
  });
}

class DefinitionFinder {
  readonly #text: string;
  readonly #separator: string;
  readonly #cuts: Cut[];

  constructor(text: string, separator: string, cuts: Cut[]) {
    this.#text = text;
    this.#separator = separator;
    this.#cuts = cuts;
  }

  visitSiblings(parent: Node, outerPath: readonly string[]): void {
    let path = outerPath;
    let leading: Node | null = null;
    let lastLeading: Node | null = null;
    for (const child of parent.namedChildren) {
      if (LEADING.has(child.type)) {
        const isApart = lastLeading === null || this.#hasBlankLine(lastLeading.endIndex, child.startIndex);
        if (isApart && leading !== null) this.#cut(leading.startIndex, path);
        if (isApart) leading = child;
        lastLeading = child;
        continue;
      }
      const belongs =
        leading !== null && lastLeading !== null && !this.#hasBlankLine(lastLeading.endIndex, child.startIndex);
      if (leading !== null && !belongs) this.#cut(leading.startIndex, path);
      this.#visit(child, belongs && leading !== null ? leading.startIndex : child.startIndex, path);
      path = namespaceFrom(child, path);
      leading = null;
      lastLeading = null;
    }
    if (leading !== null) this.#cut(leading.startIndex, path);
  }

  #visit(node: Node, start: number, path: readonly string[]): void {
    if (TRANSPARENT.has(node.type)) {
      this.#cut(start, path);
      this.visitSiblings(node, path);
      return;
    }
    const definition = definitionIn(node);
    const name = definition === null ? null : nameOf(definition);
    if (definition === null || name === null || isOpenNamespace(node)) {
      this.#cut(start, path);
      return;
    }
    const inner = [...path, name];
    this.#cuts.push({ at: this.#lineStart(start), symbol: inner.join(this.#separator) });
    const body = bodyOf(definition);
    const isLong = node.endIndex - start > SPLIT_ABOVE;
    if (body !== null && isLong && body.namedChildren.some((child) => definitionIn(child) !== null))
      this.visitSiblings(body, inner);
  }

  /** Begins a block without definition, or continues the one that is open. Inside a container it goes by the container's name. */
  #cut(start: number, path: readonly string[]): void {
    const symbol = path.length === 0 ? null : path.join(this.#separator);
    const last = this.#cuts.at(-1);
    if (last !== undefined && last.symbol === symbol) return;
    this.#cuts.push({ at: this.#lineStart(start), symbol });
  }

  #hasBlankLine(from: number, to: number): boolean {
    return /\n[ \t]*\n/.test(this.#text.slice(from, to));
  }

  /** Never back over the cut before: two definitions on one line stay in order. */
  #lineStart(index: number): number {
    // A bounded distance: in a file of one line, searching its start from every statement would take quadratic time.
    const before = this.#text.slice(Math.max(0, index - MAX_INDENT), index);
    const indent = /(?:^|\n)([ \t]*)$/.exec(before)?.[1];
    const isFirstOnLine = indent !== undefined && (indent.length < before.length || index === indent.length);
    return Math.max(isFirstOnLine ? index - indent.length : index, this.#cuts.at(-1)?.at ?? 0);
  }
}

/** `namespace N;` in C# and PHP: it applies to the following definitions. */
function isOpenNamespace(node: Node): boolean {
  return (
    /^(file_scoped_namespace_declaration|namespace_definition)$/.test(node.type) &&
    node.childForFieldName('body') === null
  );
}

function namespaceFrom(node: Node, path: readonly string[]): readonly string[] {
  const name = isOpenNamespace(node) ? node.childForFieldName('name')?.text : undefined;
  return name === undefined ? path : [name];
}

/** The definition that a statement is or holds. */
function definitionIn(node: Node): Node | null {
  if (DEFINITIONS.has(node.type)) return node;
  if (node.type === 'lexical_declaration' || node.type === 'variable_declaration') return valueDefinition(node);
  if (node.type === 'public_field_definition' || node.type === 'field_definition') {
    return node.childForFieldName('value')?.type === 'arrow_function' ? node : null;
  }
  if (!WRAPPERS.has(node.type)) return null;
  for (const child of node.namedChildren) {
    if (child.type === 'assignment' || child.type === 'assignment_expression')
      return lines(child) >= LONG_VALUE_LINES ? child : null;
    const inner = definitionIn(child);
    if (inner !== null) return inner;
  }
  return null;
}

/** `const handler = () => …` and constants over several lines. */
function valueDefinition(node: Node): Node | null {
  const declarator = node.namedChildren.find((child) => child.type === 'variable_declarator');
  const value = declarator?.childForFieldName('value')?.type;
  if (declarator === undefined || value === undefined) return null;
  const isFunction = value === 'arrow_function' || value === 'function_expression' || value === 'class';
  return isFunction || lines(node) >= LONG_VALUE_LINES ? declarator : null;
}

function lines(node: Node): number {
  return node.endPosition.row - node.startPosition.row + 1;
}

function bodyOf(node: Node): Node | null {
  const body = node.childForFieldName('body');
  const isNamespace = node.type === 'module' || node.type === 'internal_module';
  if (body !== null && (isNamespace || (body.type !== 'statement_block' && body.type !== 'compound_statement')))
    return body;
  return (
    node.namedChildren.find((child) =>
      /^(class_body|declaration_list|field_declaration_list|interface_body|enum_body|block)$/.test(child.type),
    ) ?? null
  );
}

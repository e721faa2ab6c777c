import type { Node } from 'web-tree-sitter';
import { append } from '../../../kernel/long-lists.ts';
import type {
  CodeDefinition,
  CodeExport,
  CodeFacts,
  CodeImport,
  CodeRoute,
  CodeUse,
} from '../../../ports/code-facts.ts';
import {
  ANNOTATIONS,
  type Annotated,
  annotatedRoutes,
  type RouteAnnotation,
  readAnnotation,
} from './code-annotations.ts';
import { basesOf } from './code-bases.ts';
import { DEFINITIONS, nameOf, separatorOf } from './code-definitions.ts';
import { commonExport, readAll, readCommonExports, readExports } from './code-exports.ts';
import { bindings, readImport } from './code-imports.ts';
import { belowRouter, type Router, routersIn } from './code-routers.ts';

/** Node types of calls, over all grammars in use. */
const CALLS: ReadonlySet<string> = new Set([
  ...['call_expression', 'call', 'method_invocation', 'invocation_expression', 'command'],
  ...['new_expression', 'object_creation_expression'],
  ...[
    'function_call_expression',
    'member_call_expression',
    'nullsafe_member_call_expression',
    'scoped_call_expression',
  ],
]);
const IMPORTS: ReadonlySet<string> = new Set([
  ...['import_statement', 'import_from_statement', 'import_declaration', 'import_spec', 'export_statement'],
  ...['using_directive', 'use_declaration', 'namespace_use_declaration', 'preproc_include'],
]);
const IDENTIFIERS: ReadonlySet<string> = new Set([
  ...['identifier', 'type_identifier', 'shorthand_property_identifier', 'constant'],
]);
const STATEMENT = 'expression_statement';
const DECORATED = 'decorated_definition';
/** What an interface of Go asks for. */
const ASKED_METHOD = 'method_elem';
const ASSIGNED = 'assignment_expression';
/** Definitions of values, where a file, a class or an object holds them. */
const VALUES: ReadonlySet<string> = new Set([
  ...['variable_declarator', 'public_field_definition', 'field_definition', 'pair', 'assignment', 'const_item'],
  ...['static_item', 'const_spec', 'var_spec', 'type_spec'],
]);
const FUNCTIONS: ReadonlySet<string> = new Set([
  'arrow_function',
  'function_expression',
  'generator_function',
  'lambda',
]);
/** Without a body these only refer to a type that is defined elsewhere. */
const WITH_BODY = /^(?:class|struct|union|enum)_specifier$/u;
const OWNERS = /^(?:class|interface|enum|namespace|object)$/u;

/** Maximum of uses of a file: a larger one is generated. */
const MAX_USES = 5000;
/** Characters of an import or a call that are read: some patterns take the square of it. */
const MAX_READ = 10_000;
const MAX_NAME = 200;
/** Calls around a handler: `guard(logged(handler))`. */
const MAX_WRAPPERS = 4;

/** Definitions, imports, uses and routes of a parsed file; null for a language without them. */
export function readFacts(root: Node, text: string, language: string): CodeFacts | undefined {
  if (language === 'css') return undefined;
  const types = [
    ...new Set([
      ...DEFINITIONS,
      ...VALUES,
      ...CALLS,
      ...IMPORTS,
      ...IDENTIFIERS,
      ...ANNOTATIONS,
      STATEMENT,
      DECORATED,
      ASSIGNED,
      ASKED_METHOD,
    ]),
  ];
  const reader = new FactReader(text, language);
  // In the order of the text, outer nodes before inner ones.
  for (const node of root.descendantsOfType(types)) if (node.id !== root.id) reader.visit(node);
  return reader.facts();
}

/** What a line of a file imports, in languages without a grammar. */
const IMPORT_LINE = /^[ \t]{0,8}(?:import|use|using|require|include|from)\s+['"]?(?:static\s+)?([\w./:\\-]+)['"]?/gmu;

/** Imports alone, of a file in a language without a grammar. */
export function readFactsOfLines(text: string, language: string): CodeFacts {
  const imports: CodeImport[] = [];
  let [line, counted] = [1, 0];
  for (const { index, 1: path = '' } of text.matchAll(IMPORT_LINE)) {
    for (; counted < index; counted += 1) if (text[counted] === '\n') line += 1;
    imports.push({ path, line, names: [['*', '*']] });
  }
  return { language, imports, definitions: [], uses: [], routes: [] };
}

interface Scope {
  readonly end: number;
  /** Where its name begins: annotations inside of it before that are its own. */
  readonly nameStart: number;
  /** Index of the definition; the one around it for what is no definition itself. */
  readonly by: number;
  readonly name: string;
  readonly kind: string;
}

class FactReader {
  readonly #text: string;
  readonly #language: string;
  readonly #separator: string;
  readonly #open: Scope[] = [];
  readonly #imports: CodeImport[] = [];
  readonly #definitions: CodeDefinition[] = [];
  /** Places of the definitions by their names. */
  readonly #places = new Map<string, number>();
  readonly #calls = new Map<string, CodeUse>();
  readonly #mentions = new Map<string, CodeUse>();
  readonly #routes: CodeRoute[] = [];
  readonly #exports: CodeExport[] = [];
  readonly #bases = new Map<number, readonly string[]>();
  readonly #annotated = new Map<number, { readonly name: string; readonly annotations: RouteAnnotation[] }>();
  /** Annotations before what they stand at. */
  #annotations: RouteAnnotation[] = [];
  /** Where the object that a module exports ends: its functions are definitions. */
  #exportedEnd = 0;
  #routers: ReadonlyMap<string, Router> | null = null;
  #functions: ReadonlySet<string> | null = null;
  /** Decorated definitions, by the offsets of their decorators' expressions. */
  readonly #decorated = new Map<number, Node>();
  /** Where the statement that was seen last begins. */
  #statementStart = -1;
  /** Where the import that was read last ends: the names in it are no uses. */
  #importEnd = 0;

  constructor(text: string, language: string) {
    this.#text = text;
    this.#language = language;
    this.#separator = separatorOf(language);
  }

  visit(node: Node): void {
    while ((this.#open.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= node.startIndex) this.#open.pop();
    const { type } = node;
    if (type === STATEMENT) this.#statementStart = node.startIndex;
    else if (type === DECORATED) this.#decorate(node);
    else if (type === ASSIGNED) this.#assign(node);
    else if (ANNOTATIONS.has(type)) this.#annotate(node);
    else if (IDENTIFIERS.has(type)) {
      const isExported = this.#open.length === 0 && node.startIndex < this.#exportedEnd;
      if (node.startIndex >= this.#importEnd && !isExported) this.#note(this.#mentions, node.text, node, false);
    } else if (IMPORTS.has(type)) this.#import(node);
    else if (CALLS.has(type)) this.#call(node);
    else this.#define(node);
  }

  facts(): CodeFacts {
    const names = new Set(this.#imports.flatMap(({ names: own }) => own.map(([local]) => local)));
    for (const { name } of this.#definitions) if (!name.includes(this.#separator)) names.add(name);
    const uses = [...this.#calls.values()];
    for (const [key, use] of this.#mentions) {
      const [by, name] = use;
      if (names.has(name) && this.#definitions[by]?.name !== name && !this.#calls.has(key)) uses.push(use);
    }
    const [language, imports] = [this.#language, this.#imports];
    const definitions = this.#definitions.map((one, by) => {
      const bases = this.#bases.get(by) ?? [];
      return bases.length === 0 ? one : { ...one, bases };
    });
    const annotated = [...this.#annotated].map(([by, one]): Annotated => ({ by, ...one }));
    const routes = [...this.#routes, ...annotatedRoutes(annotated, language)];
    const exports = this.#exports.length === 0 ? {} : { exports: this.#exports };
    return { language, imports, definitions, uses: uses.slice(0, MAX_USES), routes, ...exports };
  }

  #note(uses: Map<string, CodeUse>, name: string, node: Node, isCall: boolean): void {
    const by = this.#open.at(-1)?.by ?? -1;
    const key = `${by} ${name}`;
    if (!uses.has(key)) uses.set(key, [by, name, lineOf(node), isCall]);
  }

  #define(node: Node): void {
    const { type } = node;
    const isValue = VALUES.has(type);
    if (type === 'variable_declarator') this.#require(node);
    // Each of what `type ( … )` of Go declares is a definition.
    if (type === 'type_declaration' && node.namedChildren.some((child) => child.type === 'type_spec')) return;
    if (WITH_BODY.test(type) && node.childForFieldName('body') === null) return;
    const own = isValue ? valueName(node) : nameOf(node);
    if (own === null || own === '' || own.length > 100 || /\s/u.test(own)) return;
    const around = this.#open.at(-1);
    const isFunction = FUNCTIONS.has(node.childForFieldName('value')?.type ?? '');
    if (isValue && !this.#isKept(node, isFunction, around)) return;
    const name = around === undefined ? own : around.name + this.#separator + own;
    const kind = isValue && !isFunction && type !== 'type_spec' ? 'variable' : kindOf(node, around?.kind ?? '');
    // The members of an `impl` are those of its type, and an overload is the same function.
    const isNew = !this.#places.has(name) && type !== 'impl_item';
    const by = isNew ? this.#add(name, kind, node) : (this.#places.get(name) ?? this.#definitions.length - 1);
    const nameStart = node.childForFieldName('name')?.startIndex ?? node.startIndex;
    this.#open.push({ end: node.endIndex, nameStart, by, name, kind: type === 'impl_item' ? 'class' : kind });
    const bases = basesOf(node);
    const isKnown = type !== 'impl_item' || this.#places.has(name);
    if (bases.length > 0 && isKnown) this.#bases.set(by, [...(this.#bases.get(by) ?? []), ...bases]);
    if (isValue) this.#exportValue(node, own, around);
    else this.#annotateOpen();
  }

  /** `__all__ = ['a']` of Python. */
  #exportValue(node: Node, name: string, around: Scope | undefined): void {
    if (around === undefined && this.#language === 'python' && name === '__all__') append(this.#exports, readAll(node));
  }

  #annotate(node: Node): void {
    const annotation = this.#language === 'python' ? null : readAnnotation(node);
    if (annotation === null) return;
    this.#annotations.push(annotation);
    const around = this.#open.at(-1);
    if (around !== undefined && node.startIndex < around.nameStart) this.#annotateOpen();
  }

  /** Gives the annotations that were seen last to the definition that is open. */
  #annotateOpen(): void {
    const around = this.#open.at(-1);
    if (this.#annotations.length === 0 || around === undefined || around.by < 0) return;
    const known = this.#annotated.get(around.by) ?? { name: around.name, annotations: [] };
    append(known.annotations, this.#annotations);
    this.#annotated.set(around.by, known);
    this.#annotations = [];
  }

  /** `module.exports = { a }` and `exports.a = b`; a function that is assigned so is a definition. */
  #assign(node: Node): void {
    const found = this.#open.length > 0 ? null : commonExport(node);
    if (found === null) return;
    const { name, value } = found;
    append(this.#exports, readCommonExports(name, value));
    if (value?.type === 'identifier') this.#importEnd = node.endIndex;
    if (value?.type === 'object') this.#exportedEnd = node.endIndex;
    if (name === null || value === null || !FUNCTIONS.has(value.type)) return;
    const by = this.#add(name, 'function', node);
    this.#open.push({ end: node.endIndex, nameStart: node.startIndex, by, name, kind: 'function' });
  }

  #add(name: string, kind: string, node: Node): number {
    const place = this.#definitions.push({ name, kind, line: lineOf(node), endLine: node.endPosition.row + 1 }) - 1;
    this.#places.set(name, place);
    return place;
  }

  /** Local values are no definitions, functions among them are; so are functions in an object that has a name. */
  #isKept({ type, startIndex: start }: Node, isFunction: boolean, around: Scope | undefined): boolean {
    if (type === 'pair') return isFunction && (around !== undefined || this.#exportedEnd > start);
    if (isFunction) return true;
    if (type.includes('field_definition')) return false;
    return around === undefined || OWNERS.test(around.kind);
  }

  #import(node: Node): void {
    const source = node.childForFieldName('source') ?? node.childForFieldName('path');
    // Go lists its imports in one declaration, and modules export what is their own.
    const isOther = node.type === 'export_statement' || (this.#language === 'go' && node.type === 'import_declaration');
    if (isOther && source === null) {
      this.#export(node);
      return;
    }
    this.#importEnd = node.endIndex;
    const text = node.text.slice(0, MAX_READ);
    const found = readImport(text, this.#language);
    for (const { path, names } of found) if (path !== '') this.#imports.push({ path, names, line: lineOf(node) });
  }

  /** The names in a list of exports are no uses. */
  #export(node: Node): void {
    if (node.type !== 'export_statement') return;
    const text = this.#text.slice(node.startIndex, Math.min(node.endIndex, node.startIndex + MAX_READ));
    const found = readExports(text);
    append(this.#exports, found);
    const isDefinition = /^export\s+default\s+(?:async|function|abstract|class)\b/u.test(text);
    if (found.length > 0 && !isDefinition) this.#importEnd = node.endIndex;
  }

  /** `const { a, b: c } = require('./x')` and `= await import('./x')`. */
  #require(node: Node): void {
    const value = node.childForFieldName('value');
    const path =
      value === null ? null : /^(?:await\s+import|require)\(\s*['"]([^'"]+)['"]\s*\)$/u.exec(value.text)?.[1];
    const name = node.childForFieldName('name')?.text.slice(0, MAX_READ) ?? '';
    if (path) this.#imports.push({ path, line: lineOf(node), names: bindings(name) });
  }

  #call(node: Node): void {
    const callee = ['function', 'constructor', 'method', 'name', 'type'].flatMap(
      (field) => node.childForFieldName(field) ?? [],
    )[0];
    if (callee === undefined) return;
    const receiver = ['object', 'receiver', 'scope'].flatMap((field) => node.childForFieldName(field) ?? [])[0];
    const text = this.#text.slice(Math.max(callee.startIndex, callee.endIndex - MAX_NAME), callee.endIndex);
    const said = receiver === undefined ? text : `${receiver.text.slice(-100)}.${text}`;
    const [, of, own] = /(?:([\w$#]+|[)\]])\s*[!?]?(?:\.|->|::)\s*)?#?([\w$]+)[!?]?\s*(?:<[^()]*>)?$/u.exec(said) ?? [];
    if (own === undefined) return;
    const name = of === undefined ? own : `${of.replace('#', '')}.${own}`;
    if (of === undefined && /^(?:require|require_relative|import)$/u.test(own)) this.#load(node);
    else this.#note(this.#calls, name, node, true);
    this.#route(node, name);
  }

  #load(node: Node): void {
    const [, path] = /^[\w.]+[\s(]+['"]([^'"]+)['"]/u.exec(node.text) ?? [];
    const isBound = this.#imports.at(-1)?.path === path;
    const isRuby = this.#language === 'ruby';
    const there = node.text.startsWith('require_relative') && !path?.startsWith('.') ? `./${path}` : path;
    if (there !== undefined && !isBound)
      this.#imports.push({ path: there, line: lineOf(node), names: isRuby ? [['*', '*']] : [] });
  }

  /** `app.get('/x', handler)`, `@app.get('/x')`, `@app.route('/x', methods=['POST'])`, `route({ method: 'GET', path: '/x' })`. */
  #route(node: Node, callee: string): void {
    const call = node.childForFieldName('arguments');
    const given = call?.namedChildren.filter(({ type }) => type !== 'comment') ?? [];
    const [first, last] = [given[0], given.at(-1)];
    if (first === undefined || last === undefined) return;
    const [receiver = '', verb = ''] = callee.includes('.') ? callee.split('.') : ['', callee];
    if (first.type === 'object') this.#described(first, verb);
    const method = METHODS.get(verb.toLowerCase());
    if (method === undefined || receiver === '') return;
    const before = node.childForFieldName('function')?.text.slice(-MAX_READ) ?? '';
    const [, chained] = /\.route\(\s*['"](\/[^'"]*)['"]\s*\)/u.exec(before) ?? [];
    const decorated = this.#decorated.get(node.startIndex);
    const root = decorated !== undefined && stringOf(first) === '' ? '' : chained;
    const [, stated = method, own = root] =
      given
        .slice(0, 2)
        .map(addressOf)
        .find((one) => one !== null) ?? [];
    if (own === undefined) return;
    this.#routers ??= routersIn(this.#text);
    const path = belowRouter(this.#routers, receiver, own);
    if (decorated !== undefined) {
      const listed = /methods\s*=\s*[[(]([^\])]*)/u.exec(call?.text.slice(0, MAX_READ) ?? '')?.[1];
      const said = listed?.match(/\w+/gu) ?? [stated];
      const handler = decorated.childForFieldName('name')?.text ?? null;
      for (const one of said) this.#addRoute(node, one.toUpperCase(), path, handler);
    } else if (
      this.#isStatement(node) &&
      (chained !== undefined || given.length > 1) &&
      !/object|string/u.test(last.type)
    ) {
      this.#addRoute(node, stated, path, this.#handlerOf(last, `${stated} ${path}`));
    }
  }

  /**
   * Whether nothing is done with what a call returns: a client's `get('/x', …)` has an answer that somebody waits for. The calls
   * of a chain begin where their statement does; to ask the parser for the parent of a node takes a walk through the file.
   */
  #isStatement({ startIndex }: Node): boolean {
    return startIndex === this.#statementStart;
  }

  #decorate(node: Node): void {
    const definition = node.childForFieldName('definition');
    for (const { type, namedChildren } of node.namedChildren) {
      const expression = namedChildren[0];
      if (type === 'decorator' && expression !== undefined && definition !== null)
        this.#decorated.set(expression.startIndex, definition);
    }
  }

  #described(object: Node, verb: string): void {
    if (!/route$/iu.test(verb)) return;
    const values = new Map(
      object.namedChildren.map((pair) => [pair.childForFieldName('key')?.text, pair.childForFieldName('value')]),
    );
    const path = stringOf(values.get('path') ?? values.get('url'));
    if (path === null || !path.startsWith('/')) return;
    const handler = values.get('handler') ?? values.get('handle');
    const method = stringOf(values.get('method')) ?? this.#spreadMethod(object) ?? 'ANY';
    this.#addRoute(object, method.toUpperCase(), path, handler ? this.#handlerOf(handler, `${method} ${path}`) : null);
  }

  /** `{ ...get, path }` with `const get = { method: 'GET' }` in the same file. */
  #spreadMethod(object: Node): string | null {
    const spread = object.namedChildren.find(({ type }) => type === 'spread_element')?.text.slice(3) ?? '';
    if (!/^\w+$/u.test(spread)) return null;
    const stated = new RegExp(`\\b${spread}\\s*=\\s*\\{[^}]{0,200}\\bmethod:\\s*['"](\\w+)`, 'u');
    return stated.exec(this.#text)?.[1] ?? null;
  }

  /** The name of a handler; one that has none goes by the route from now on. Of `guard(handler)` it is `handler`, if the file has that. */
  #handlerOf(node: Node, route: string): string | null {
    if (CALLS.has(node.type)) {
      const inner = node.childForFieldName('arguments')?.namedChildren.at(-1);
      if (inner !== undefined && this.#isHandler(inner)) return this.#handlerOf(inner, route);
      return /^[\w$.]+/u.exec(node.text.slice(0, MAX_NAME))?.[0] ?? null;
    }
    if (FUNCTIONS.has(node.type)) {
      const by = this.#add(route, 'function', node);
      this.#open.push({ end: node.endIndex, by, nameStart: node.startIndex, name: route, kind: 'function' });
      return route;
    }
    return /([\w$]+\.)?[\w$]+$/u.exec(node.text.slice(-MAX_NAME))?.[0] ?? null;
  }

  /** Whether a function is given, or one of the file by its name or by what it returns. */
  #isHandler(node: Node, depth = 0): boolean {
    if (depth > MAX_WRAPPERS) return false;
    if (FUNCTIONS.has(node.type)) return true;
    if (!CALLS.has(node.type)) return this.#isFunction(node.text);
    const inner = node.childForFieldName('arguments')?.namedChildren.at(-1);
    return (
      (inner !== undefined && this.#isHandler(inner, depth + 1)) ||
      this.#isFunction(/^\w+(?=\()/u.exec(node.text)?.[0] ?? '')
    );
  }

  /** Whether the text names a function of the file, even one that comes later. */
  #isFunction(name: string): boolean {
    this.#functions ??= new Set([...this.#text.matchAll(FUNCTION_HEAD)].map(([, own = '']) => own));
    return this.#functions.has(name);
  }

  #addRoute(node: Node, method: string, path: string, handler: string | null): void {
    const by = this.#open.findLast(({ name }) => name !== handler)?.by ?? -1;
    this.#routes.push({ method, path, handler, by, line: lineOf(node) });
  }
}

const FUNCTION_HEAD = /\b(?:function|func|def|fn|const|let|var) {1,4}(\w{1,100}) {0,4}(?:[(<]|= {0,4}(?:async\b|\())/gu;

/** `/x`, or `GET /x` as Go writes it. */
function addressOf(node: Node): readonly [whole: string, method: string | undefined, path: string | undefined] | null {
  const found = /^(?:([A-Z]{3,7}) )?(\/\S*)$/u.exec(stringOf(node) ?? '');
  return found === null ? null : [found[0], found[1], found[2]];
}

/** Calls that declare a route, with its method. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ...['get', 'post', 'put', 'patch', 'delete', 'head', 'options'].map((verb) => [verb, verb.toUpperCase()] as const),
  ...([
    ['del', 'DELETE'],
    ['route', 'GET'],
    ['all', 'ANY'],
    ['handle', 'ANY'],
    ['handlefunc', 'ANY'],
  ] as const),
]);

function stringOf(node: Node | null | undefined): string | null {
  return /^[rbf]?(['"`])([^'"`\n]*)\1$/u.exec(node?.text ?? '')?.[2] ?? null;
}

function lineOf(node: Node): number {
  return node.startPosition.row + 1;
}

function valueName(node: Node): string | null {
  const name = node.childForFieldName('name') ?? node.childForFieldName('left') ?? node.childForFieldName('key');
  const text = (name ?? node.childForFieldName('property'))?.text.replaceAll(/^['"#]|['"]$/gu, '') ?? '';
  return /^[\w$]+$/u.test(text) ? text : null;
}

function kindOf(node: Node, around: string): string {
  const type = node.type === 'type_spec' ? (node.childForFieldName('type')?.type ?? 'type_') : node.type;
  if (/interface|trait|protocol/u.test(type)) return 'interface';
  if (type.includes('enum')) return 'enum';
  if (/class|struct|record|union/u.test(type)) return 'class';
  if (/namespace|module|mod_item/u.test(type)) return 'namespace';
  if (node.type === 'type_spec' || /^type_|type_definition|delegate/u.test(type)) return 'type';
  const isMember = /method|constructor|property|field/u.test(type) || /^(?:class|interface|enum)$/u.test(around);
  return isMember ? 'method' : 'function';
}

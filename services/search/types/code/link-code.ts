import { folderOf, joinPath } from '../../../common/domain/source-place.ts';
import { idOfText } from '../../../common/kernel/ids.ts';
import type { CodeImport } from '../../../common/ports/code-facts.ts';
import { separatorOf } from '../../../common/text/documents/formats/code-definitions.ts';
import type { CodeEdge, CodeFile, CodeNode } from './code-node.ts';
import { goImplementations } from './go-interfaces.ts';

interface Module {
  readonly file: CodeFile;
  readonly node: CodeNode;
  readonly folder: string;
  readonly family: string;
  readonly separator: string;
  readonly definitions: readonly CodeNode[];
  readonly symbols: ReadonlyMap<string, CodeNode>;
  /** By the last part of the name: methods, and functions inside of others. */
  readonly members: ReadonlyMap<string, readonly CodeNode[]>;
  /** Names of its own, by those that others import them under. */
  readonly exports: ReadonlyMap<string, string>;
  readonly imports: Imported[];
}

interface Imported extends Pick<CodeImport, 'names'> {
  readonly modules: readonly Module[];
}

/** Languages whose files import each other. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ...['typescript', 'tsx', 'javascript', 'vue', 'svelte'].map((language) => [language, 'js'] as const),
  ...['java', 'kotlin', 'scala', 'groovy'].map((language) => [language, 'jvm'] as const),
  ...['c', 'cpp', 'objective-c'].map((language) => [language, 'c'] as const),
]);
const INDEXES = ['', '/index', '/__init__', '/mod'];
/** In these a folder is one space of names. */
const BY_FOLDER: ReadonlySet<string> = new Set(['go', 'jvm', 'csharp', 'swift']);
/** In these the functions of a class are called by their bare names inside of it. */
const BARE_MEMBERS: ReadonlySet<string> = new Set(['jvm', 'csharp', 'c', 'ruby', 'swift']);
const SELF = /^(?:this|self|cls|super|Self)$/u;
/** How far names are followed through files that pass them on. */
const MAX_REEXPORTS = 5;
const MAX_IMPORTED = 50;

/** Finds out which definition each use of each file means; uses that stay open are left out. */
export function linkCode(files: readonly CodeFile[]): {
  readonly nodes: readonly CodeNode[];
  readonly edges: readonly CodeEdge[];
} {
  const modules = files.map(moduleOf);
  const index = new ModuleIndex(modules);
  const nodes = modules.flatMap(({ node, definitions }) => [node, ...definitions]);
  const edges: CodeEdge[] = [];
  for (const module of modules) {
    for (const stated of module.file.facts.imports) {
      const found = index.imported(module, stated);
      module.imports.push(...found);
      const targets = found.flatMap((one) => one.modules.map(({ node }) => node));
      if (targets.length === 0) {
        const dependency = dependencyOf(module, stated.path);
        nodes.push(dependency);
        targets.push(dependency);
      }
      for (const target of targets) edges.push(edge(module.node, 'imports', target, module, stated.line));
    }
  }
  for (const module of modules) {
    const resolver = new NameResolver(module, index);
    const userOf = (by: number) => module.definitions[by] ?? module.node;
    for (const node of module.definitions) {
      edges.push(edge(ownerOf(module, node) ?? module.node, 'defines', node, module, node.line ?? 1));
    }
    for (const [by, { bases = [], line }] of module.file.facts.definitions.entries()) {
      const own = userOf(by);
      for (const base of bases) {
        const target = resolver.resolve(by, base);
        if (target?.kind !== 'symbol') continue;
        const isPromise = target.symbolKind === 'interface' && own.symbolKind !== 'interface';
        edges.push(edge(own, isPromise ? 'implements' : 'extends', target, module, line));
      }
    }
    for (const [by, name, line, isCall] of module.file.facts.uses) {
      const target = resolver.resolve(by, name);
      if (target !== null && target.kind === 'symbol')
        edges.push(edge(userOf(by), isCall ? 'calls' : 'references', target, module, line));
    }
    for (const { method, path, line, handler, by } of module.file.facts.routes) {
      const properties = { language: module.file.facts.language, method, path, ...(handler && { handler }) };
      const id = idOfText(`ApiEndpoint:${placeOf(module.file)}:${line}:${method} ${path}`);
      const node: CodeNode = { ...module.node, id, kind: 'route', name: path, line, properties };
      nodes.push(node);
      edges.push(edge(module.node, 'defines', node, module, line));
      const target = handler === null ? null : resolver.resolve(by, handler);
      if (target?.kind === 'symbol') edges.push(edge(node, 'handled_by', target, module, line));
    }
  }
  for (const { type, asked } of goImplementations(modules)) {
    const home = index.moduleOf(type);
    if (home !== undefined) edges.push(edge(type, 'implements', asked, home, type.line ?? 1));
  }
  return { nodes, edges };
}

function edge(source: CodeNode, type: CodeEdge['type'], target: CodeNode, { file }: Module, line: number): CodeEdge {
  return { source: source.id, target: target.id, type, file: file.path, line };
}

function placeOf({ repo, path }: CodeFile): string {
  return `${repo ?? ''}:${path}`;
}

function moduleOf(file: CodeFile): Module {
  const { path, repo, facts } = file;
  const { language } = facts;
  const separator = separatorOf(language);
  const common = { file: path, repo, properties: { language } };
  const id = idOfText(`CodeModule:${placeOf(file)}`);
  const node: CodeNode = { ...common, id, kind: 'module', name: path, line: null, symbolKind: null };
  const exports = facts.exports ?? [];
  const aliases = new Map(exports.filter(([own, other]) => other !== own && other !== 'default'));
  const definitions = facts.definitions.map(({ name, kind, line, bases }): CodeNode => {
    const own = idOfText(`CodeSymbol:${placeOf(file)}:${name}`);
    const alias = aliases.get(name);
    const stated = { ...(alias !== undefined && { exported_as: alias }), ...(bases !== undefined && { bases }) };
    return { ...common, id: own, kind: 'symbol', name, line, symbolKind: kind, properties: { language, ...stated } };
  });
  const inner = definitions.filter(({ name }) => name.includes(separator));
  return {
    file,
    node,
    separator,
    definitions,
    folder: folderOf(path),
    family: FAMILIES.get(language) ?? language,
    symbols: new Map(definitions.map((one) => [one.name, one])),
    members: Map.groupBy(inner, ({ name }) => name.slice(name.lastIndexOf(separator) + separator.length)),
    exports: new Map(exports.map(([own, other]) => [other, own])),
    imports: [],
  };
}

/** The definition that a definition stands in. */
function ownerOf({ symbols, separator }: Module, { name }: Pick<CodeNode, 'name'>): CodeNode | undefined {
  const end = name.lastIndexOf(separator);
  return end < 0 ? undefined : symbols.get(name.slice(0, end));
}

function dependencyOf({ file, folder, family }: Module, path: string): CodeNode {
  const name = family === 'js' && path.startsWith('.') ? joinPath(folder, path) : path;
  const id = idOfText(`ExternalDependency:${file.repo ?? ''}:${name}`);
  const none = { file: null, line: null, symbolKind: null, properties: null };
  return { id, kind: 'dependency', name, repo: file.repo, ...none };
}

/** Finds files by paths as imports write them. */
class ModuleIndex {
  readonly #byPath: ReadonlyMap<string, readonly Module[]>;
  readonly #byName: ReadonlyMap<string, readonly Module[]>;
  readonly #byFolder: ReadonlyMap<string, readonly Module[]>;
  /** By the last folder alone. */
  readonly #byLastFolder: ReadonlyMap<string, readonly Module[]>;
  readonly #bySymbol: ReadonlyMap<string, readonly (readonly [Module, CodeNode])[]>;
  readonly #homes: ReadonlyMap<CodeNode, Module>;

  constructor(modules: readonly Module[]) {
    this.#byPath = Map.groupBy(modules, (module) => this.#key(module, stem(module.file.path)));
    this.#byName = Map.groupBy(modules, (module) => this.#key(module, lastSegment(stem(module.file.path))));
    this.#byFolder = Map.groupBy(modules, (module) => this.#key(module, module.folder));
    this.#byLastFolder = Map.groupBy(modules, (module) => this.#key(module, lastSegment(module.folder)));
    const topLevel = modules.flatMap((module) =>
      [...module.symbols.values()]
        .filter(({ name }) => !name.includes(module.separator))
        .map((node) => [module, node] as const),
    );
    this.#bySymbol = Map.groupBy(topLevel, ([module, { name }]) => this.#key(module, name));
    this.#homes = new Map(modules.flatMap((module) => module.definitions.map((node) => [node, module] as const)));
  }

  #key({ file, family }: Pick<Module, 'file' | 'family'>, name: string): string {
    return `${file.repo ?? ''}\n${family}\n${name}`;
  }

  /** The file of a definition. */
  moduleOf(node: CodeNode): Module | undefined {
    return this.#homes.get(node);
  }

  /** The files whose names are seen without an import, beside the module itself. */
  beside(module: Module): readonly Module[] {
    return BY_FOLDER.has(module.family) ? (this.#byFolder.get(this.#key(module, module.folder)) ?? []) : [];
  }

  /** Whether a file that the module could import defines the name. */
  defines(module: Module, name: string): boolean {
    return this.#bySymbol.has(this.#key(module, name));
  }

  /** The files that an import means; `from . import a, b` means several. */
  imported(module: Module, { path, names }: CodeImport): readonly Imported[] {
    const modules = this.#modulesOf(module, path).filter((one) => one !== module);
    if (module.family !== 'python') return modules.length === 0 ? [] : [{ names, modules }];
    const inner = names.flatMap(([local, there]): Imported[] => {
      const found = /^[*]?$/u.test(there) ? [] : this.#modulesOf(module, `${path.replace(/\.$/u, '')}.${there}`);
      return found.length === 0 ? [] : [{ names: [[local, '*']], modules: found }];
    });
    return modules.length === 0 ? inner : [{ names, modules }, ...inner];
  }

  /** A definition of the language that is seen without an import: of the folder, or the only one of its name. */
  visible(module: Module, name: string): CodeNode | null {
    const own = this.beside(module).flatMap(({ symbols }) => symbols.get(name) ?? []);
    if (own.length > 0) return only(own);
    if (module.family === 'js' || module.family === 'python' || module.family === 'go') return null;
    return only((this.#bySymbol.get(this.#key(module, name)) ?? []).map(([, node]) => node));
  }

  #modulesOf(module: Module, path: string): readonly Module[] {
    if (module.family === 'js' && !/^(?:\.|[@~#]\/)/u.test(path)) return [];
    const relative = /^\.+(?![./])/u.exec(path)?.[0].length ?? 0;
    if (module.family === 'python' && relative > 0) {
      const folder = joinPath(module.folder, '../'.repeat(relative - 1));
      return this.#at(module, joinPath(folder, path.slice(relative).replaceAll('.', '/')));
    }
    if (/^\.{1,2}(?:\/|$)/u.test(path)) {
      const found = this.#at(module, joinPath(module.folder, path));
      // Files that were added one by one have no folders.
      return found.length > 0 || module.folder !== '' ? found : this.#named(module, [lastSegment(path)], 1);
    }
    const parts = path.replace(/\.(?:hh?|hpp|hxx|h\+\+)$/u, '').split(/::|[./\\]+/u);
    const own = parts.filter((part) => !/^(?:|crate|self|super|[@~#])$/u.test(part));
    if (module.family === 'go') return this.#folder(module, own);
    const [exact, outer] = [this.#named(module, own, 2), this.#named(module, own.slice(0, -1), 2)];
    if (exact.length > 0 || own.length === 0) return exact;
    return outer.length > 0 ? outer : this.#folder(module, own);
  }

  #at(module: Module, path: string): readonly Module[] {
    for (const one of new Set([path, stem(path)])) {
      for (const index of INDEXES) {
        const found = this.#byPath.get(this.#key(module, `${one}${index}`)) ?? [];
        if (found.length > 0) return found.length === 1 ? found : found.filter(({ file }) => file.path === path);
      }
    }
    return [];
  }

  /** The only file whose path ends with the parts; with fewer of them, down to `least`, where none has all. */
  #named(module: Module, parts: readonly string[], least: number): readonly Module[] {
    for (let from = 0; from === 0 || parts.length - from >= least; from += 1) {
      const wanted = parts.slice(from).join('/');
      if (wanted === '') return [];
      const ends = INDEXES.map((index) => `${wanted}${index}`);
      const found = ends.flatMap((end) =>
        (this.#byName.get(this.#key(module, lastSegment(end))) ?? []).filter(({ file }) => {
          const own = stem(file.path);
          return own === end || own.endsWith(`/${end}`);
        }),
      );
      if (found.length > 0) return found.length === 1 ? found : [];
    }
    return [];
  }

  /** The files of the folder that the parts end with; with fewer of them, from the front, where no folder has all. */
  #folder(module: Module, parts: readonly string[]): readonly Module[] {
    const least = module.family === 'go' ? 1 : 2;
    const alike = this.#byLastFolder.get(this.#key(module, parts.at(-1) ?? '')) ?? [];
    for (let from = 0; from < parts.length && (from === 0 || parts.length - from >= least); from += 1) {
      const wanted = parts.slice(from).join('/');
      // `json` and `net/http` are packages of the language, whatever folders there are.
      const isLong = parts.length - from > 1 && parts.length > 2;
      const found = alike.filter(({ folder }) => folder === wanted || (isLong && folder.endsWith(`/${wanted}`)));
      const folders = new Set(found.map(({ folder }) => folder));
      if (folders.size === 1) return found.slice(0, MAX_IMPORTED);
      if (folders.size > 1) return found.filter(({ folder }) => folder === wanted).slice(0, MAX_IMPORTED);
    }
    return [];
  }
}

/** Finds the definition that a name in one file means. */
class NameResolver {
  readonly #module: Module;
  readonly #index: ModuleIndex;

  constructor(module: Module, index: ModuleIndex) {
    this.#module = module;
    this.#index = index;
  }

  resolve(by: number, name: string): CodeNode | null {
    const user = this.#module.definitions[by];
    const dot = name.lastIndexOf('.');
    if (dot < 0 || this.#module.symbols.has(name)) return this.#bare(user, name);
    const [receiver, own] = [name.slice(0, dot), name.slice(dot + 1)];
    if (SELF.test(receiver)) return this.#ofOwnClass(user, own) ?? this.#ofMethods(receiver, own);
    return this.#ofNamed(user, receiver, own) ?? this.#ofMethods(receiver, own);
  }

  /** From the inside out: what the user and the definitions around it hold, the file, its imports. */
  #bare(user: CodeNode | undefined, name: string): CodeNode | null {
    const { symbols, separator, family } = this.#module;
    for (let around = user; around !== undefined; around = ownerOf(this.#module, around)) {
      const isSpace = BARE_MEMBERS.has(family) || around.symbolKind !== 'class';
      const found = isSpace ? symbols.get(around.name + separator + name) : undefined;
      if (found !== undefined) return found;
    }
    return symbols.get(name) ?? this.#imported(name) ?? this.#index.visible(this.#module, name);
  }

  #imported(name: string): CodeNode | null {
    const isNamed = this.#module.imports.some(({ names }) => names.some(([local]) => local === name));
    // Files that bring in all names of others are looked through for names that some file defines.
    if (!isNamed && !this.#index.defines(this.#module, name)) return null;
    const found = exported(this.#module, name, 0);
    return found === this.#module.node ? null : found;
  }

  #ofOwnClass(user: CodeNode | undefined, name: string): CodeNode | null {
    const { symbols, separator } = this.#module;
    for (let around = user; around !== undefined; around = ownerOf(this.#module, around)) {
      const found = symbols.get(around.name + separator + name);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** `Cart.add` of a class or an object that the file defines or imports, `price.of` of a module. */
  #ofNamed(user: CodeNode | undefined, receiver: string, name: string): CodeNode | null {
    const holder = this.#bare(user, receiver);
    if (holder?.kind === 'symbol') {
      const home = this.#index.moduleOf(holder);
      return home?.symbols.get(holder.name + home.separator + name) ?? null;
    }
    const spaces = this.#module.imports.filter(({ names }) =>
      names.some(([local, there]) => local === receiver && (there === '*' || there === 'default')),
    );
    return first(
      spaces.flatMap(({ modules }) => modules),
      (module) => exported(module, name, 1),
    );
  }

  /**
   * A method of something whose type is not known: the one of that name in the files that this one imports, or in itself. Where
   * it goes by the name of many built-in ones, the receiver must be called like its owner: `ledger.entries` of `createLedger`.
   */
  #ofMethods(receiver: string, name: string): CodeNode | null {
    const { imports } = this.#module;
    const beside = this.#index.beside(this.#module);
    const near = new Set([this.#module, ...imports.flatMap(({ modules }) => modules), ...beside]);
    const found = [...near].flatMap((module) => (module.members.get(name) ?? []).map((node) => ({ module, node })));
    const said = receiver.toLowerCase();
    const alike = found.filter(({ module, node }) => {
      const owner = ownerOf(module, node)?.name.toLowerCase() ?? '';
      return /\w{3}/u.test(said) && (owner.includes(said) || (owner.length > 2 && said.includes(owner)));
    });
    if (alike.length > 0) return only(madeOf(alike));
    return BUILT_IN.has(name) ? null : only(madeOf(found));
  }
}

/** Methods with what they do, where there are any beside those that an interface asks for. */
function madeOf(found: readonly { readonly module: Module; readonly node: CodeNode }[]): readonly CodeNode[] {
  const made = found.filter(({ module, node }) => ownerOf(module, node)?.symbolKind !== 'interface');
  return (made.length > 0 ? made : found).map(({ node }) => node);
}

/** Names that arrays, texts, maps, promises and the like have. `Response` would load the client for HTTP. */
const BUILT_IN: ReadonlySet<string> = new Set(
  [Array, String, Map, Set, Promise, RegExp, Date, Object, Function, Number, Uint8Array, EventTarget, URL]
    .flatMap((one) => [one, one.prototype as object])
    .flatMap((one) => Object.getOwnPropertyNames(one)),
);

/** What a module has under a name, or passes on of others; the node of a module for the module itself. */
function exported(module: Module, name: string, depth: number, seen = new Set<Module>()): CodeNode | null {
  if (seen.has(module)) return null;
  seen.add(module);
  const wanted = depth > 0 ? (module.exports.get(name) ?? name) : name;
  if (depth > 0) {
    const own = module.symbols.get(wanted);
    if (own !== undefined) return own;
  }
  if (depth > MAX_REEXPORTS) return null;
  return first(module.imports, ({ names, modules }) => {
    for (const [local, there] of names) {
      if (local !== wanted && local !== '*') continue;
      const found = first(modules, (one) => {
        if (local === '*') return exported(one, wanted, depth + 1, seen);
        if (there === '*') return one.node;
        const target = exported(one, there, depth + 1, there === wanted ? seen : undefined);
        return target ?? (there === 'default' ? (one.symbols.get(wanted) ?? one.node) : null);
      });
      if (found !== null) return found;
    }
    return null;
  });
}

function first<From, To>(values: readonly From[], find: (value: From) => To | null): To | null {
  for (const value of values) {
    const found = find(value);
    if (found !== null) return found;
  }
  return null;
}

function only<Value>(values: readonly Value[]): Value | null {
  return values.length === 1 ? (values[0] as Value) : null;
}

function stem(path: string): string {
  return path.replace(/(?<=[^/])\.[^./]+$/u, '');
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

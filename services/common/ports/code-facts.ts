/**
 * Definitions, imports, uses and routes of one file of code, as its parser reads them. Uses are names: what they mean is known
 * beside the other files of the dataset only, see `search/types/code/link-code.ts`.
 */
export interface CodeFacts {
  readonly language: string;
  readonly imports: readonly CodeImport[];
  readonly definitions: readonly CodeDefinition[];
  readonly uses: readonly CodeUse[];
  readonly routes: readonly CodeRoute[];
  /** What statements apart from the definitions export, and what is exported under another name; absent without any. */
  readonly exports?: readonly CodeExport[];
}

/** `export { a as b }` is `['a', 'b']`, `export default a` is `['a', 'default']`. */
export type CodeExport = readonly [local: string, exported: string];

export interface CodeImport {
  /** As the file writes it: `./price.ts`, `a.b.C`, `koa`. */
  readonly path: string;
  readonly line: number;
  /** Names in this file with those in the other one: `default`, or `*` for the module itself. Empty: all that it has. */
  readonly names: readonly (readonly [local: string, there: string])[];
}

export interface CodeDefinition {
  /** Qualified by what it stands in: `Cart.total`. */
  readonly name: string;
  /** class, interface, enum, type, namespace, function, method or variable. */
  readonly kind: string;
  readonly line: number;
  readonly endLine: number;
  /** Classes and interfaces that it extends or implements, as the file writes their names; absent without any. */
  readonly bases?: readonly string[];
}

/**
 * `by`: index of the definition that uses it; -1: the file itself. `name`: `priceOf`, `cart.total`, `this.total`; `).total` of the
 * result of a call.
 */
export type CodeUse = readonly [by: number, name: string, line: number, isCall: boolean];

/** An HTTP route that a file declares. */
export interface CodeRoute {
  readonly method: string;
  readonly path: string;
  readonly line: number;
  /** Name of the handler, as a use of `by` would have it; null: the handler has none. */
  readonly handler: string | null;
  readonly by: number;
}

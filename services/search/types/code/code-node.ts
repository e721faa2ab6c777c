import type { JsonObject } from '../../../common/kernel/json.ts';
import type { CodeFacts } from '../../../common/ports/code-facts.ts';

export type CodeKind = 'module' | 'symbol' | 'dependency' | 'route';

export interface CodeNode {
  readonly id: string;
  readonly kind: CodeKind;
  /** Path of a module, qualified name of a symbol, address of a route. */
  readonly name: string;
  /** The file that it is, or that defines it; null for what no file of the dataset defines. */
  readonly file: string | null;
  readonly line: number | null;
  /** The repository of the file, else the first node set that it was added under; null without one. */
  readonly repo: string | null;
  /** class, function, method, variable …; null when it is no symbol. */
  readonly symbolKind: string | null;
  readonly properties: JsonObject | null;
}

export interface CodeEdge {
  readonly source: string;
  readonly target: string;
  readonly type: 'imports' | 'defines' | 'calls' | 'references' | 'handled_by' | 'extends' | 'implements';
  /** The first place that states it. */
  readonly file: string;
  readonly line: number;
}

/** A file of code with what its parser read. */
export interface CodeFile {
  readonly path: string;
  /** Null: the file was added alone. */
  readonly repo: string | null;
  readonly facts: CodeFacts;
}

/**
 * Function that a worker process can call: an exported function of a module. A generator hands its result over in parts.
 * `input` and all that comes back are structured clones and should be small; what is large goes into `content` and parts.
 */
// biome-ignore lint/suspicious/noExplicitAny: the parameters belong to each function; `never` would refuse all arguments.
export type WorkerFunction = (input: any, content: Buffer) => unknown;

/** Names a function without loading its module. */
export interface WorkerTask<out Work extends WorkerFunction> {
  /** URL of the module. */
  readonly module: string;
  readonly name: string;
  /** No value: carries the type. */
  readonly type?: Work | undefined;
}

/** `workerTask<typeof import('./parse-task.ts'), 'parse'>(new URL('./parse-task.ts', import.meta.url), 'parse')` */
export function workerTask<Module, Name extends keyof Module & string>(
  module: URL,
  name: Name,
): WorkerTask<Module[Name] extends WorkerFunction ? Module[Name] : never> {
  return { module: module.href, name };
}

export type ToWorker =
  | { readonly kind: 'load'; readonly module: string }
  | {
      readonly kind: 'call';
      readonly module: string;
      readonly name: string;
      readonly input: unknown;
      /** Null: not known yet. */
      readonly contentBytes: number | null;
    }
  | { readonly kind: 'content'; readonly bytes: Uint8Array }
  | { readonly kind: 'begin' };

interface CallEnd {
  /** The process keeps so much memory that the next call would not have its share. */
  readonly isSpent: boolean;
}

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'part'; readonly part: unknown }
  | ({ readonly kind: 'result'; readonly result: unknown } & CallEnd)
  | ({
      readonly kind: 'error';
      readonly message: string;
      readonly stack: string | undefined;
      readonly properties: Readonly<Record<string, unknown>>;
    } & CallEnd);

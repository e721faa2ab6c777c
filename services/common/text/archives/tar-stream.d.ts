/** The part of tar-stream that is used here; the package brings no types. */
declare module 'tar-stream' {
  import type { Readable, Writable } from 'node:stream';

  interface Entry extends Readable {
    readonly header: { readonly name: string; readonly size: number; readonly type: string };
  }
  interface Pack extends Readable {
    entry(
      header: { readonly name: string; readonly type?: string; readonly linkname?: string },
      content?: string,
    ): void;
    finalize(): void;
  }
  export function pack(): Pack;
  export function extract(): Writable & AsyncIterable<Entry>;
}

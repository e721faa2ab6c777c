/** A page of a keyset-ordered listing; `next` is null on the last page and otherwise goes back into `after`. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

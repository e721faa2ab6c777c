/** Work that goes on through many calls, one process at a time. */
export type Leased = {
  /** Who is at it; null: nobody. */
  readonly worker: string | null;
  /** Milliseconds since 1970; from then on somebody else may go on. */
  readonly leasedUntilMs: number;
  readonly failure: { readonly name: string; readonly message: string } | null;
  readonly isComplete: boolean;
};

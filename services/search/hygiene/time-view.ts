/** Which statements of the memory a search is told. */
export interface TimeView {
  /** Without those that a newer statement has replaced. */
  readonly currentOnly: boolean;
  /** ISO; as of then: what replaced something later is left out, and what it replaced is told. Null: as of now. */
  readonly asOf: string | null;
}

export const CURRENT: TimeView = { currentOnly: true, asOf: null };

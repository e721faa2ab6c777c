/** A document of the training data. */
export interface LabelledDocument {
  readonly title: string;
  readonly text: string;
  readonly entities: readonly { readonly type: string; readonly names: readonly string[] }[];
  readonly relations: readonly { readonly head: number; readonly tail: number; readonly property: string }[];
}

/** Spelling under which names of labels and of the extractor are compared. */
export function normalName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^the\s+/u, '')
    .replace(/\s+/gu, ' ')
    .trim();
}

import type { UploadedFile } from './route.ts';

/** The fields and files of a form, in the order in which they came. */
export interface FormBody {
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly files: readonly UploadedFile[];
  /** Gives memory and temporary files back. */
  dispose(): Promise<void>;
}

/** Limits of the contract (ingest.md §0.5); that of all fields together is ours: they are kept in memory. */
export const FORM_LIMITS = {
  files: 1000,
  fields: 1000,
  fieldBytes: 1024 * 1024,
  allFieldsBytes: 32 * 1024 * 1024,
} as const;

export const EMPTY_FORM: FormBody = { fields: new Map(), files: [], dispose: async () => {} };

export function collect(pairs: Iterable<readonly [string, string]>): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

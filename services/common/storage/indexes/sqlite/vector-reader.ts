import type { EntryKey, IndexKind, Provenance } from '../../ports/index-entry.ts';
import type { VectorSpace } from '../../ports/vector-index.ts';
import type { VectorSource } from '../wasm-vectors/vector-source.ts';
import { inBatches } from './in-batches.ts';
import { type OpenFile, reading } from './open-files.ts';
import { originFilter, readOrigin } from './origins.ts';
import { kindRange } from './schema.ts';
import { fromBlob } from './vector-blob.ts';

export function readSpace(file: OpenFile): VectorSpace | null {
  const stored = file.get(`SELECT value FROM meta WHERE key = 'vector_space'`, [])?.[0];
  return stored === undefined ? null : (JSON.parse(String(stored)) as VectorSpace);
}

export interface VectorsById {
  readonly kind: IndexKind;
  readonly ids: readonly string[];
  readonly provenance?: Provenance;
}

export function fetchVectors(
  file: OpenFile,
  { kind, ids, provenance }: VectorsById,
): readonly (EntryKey & { readonly vector: Float32Array })[] {
  return reading(file, () =>
    [...new Set(ids)].flatMap((id) =>
      file
        .all(
          `SELECT item, generation, vector FROM vector_row JOIN origin USING (origin) WHERE kind = ?1 AND vector_row.id = ?2
           AND (?3 IS NULL OR (item = ?3 AND generation = ?4)) ORDER BY item, generation`,
          [kindRange(kind).code, id, provenance?.item ?? null, provenance?.generation ?? null],
        )
        .map(([item, generation, vector]) => ({
          id,
          ...({ item, generation } as unknown as Provenance),
          vector: asFloats(vector),
        })),
    ),
  );
}

/** The dataset's vectors for the scan. Must be used within one `reading` so that a scan sees one state. */
export function createVectorSource(file: OpenFile): VectorSource {
  return {
    space: () => readSpace(file),
    count(kind) {
      const { start, end } = kindRange(kind);
      return Number(file.get('SELECT count(*) FROM vector_row WHERE row >= ? AND row < ?', [start, end])?.[0] ?? 0);
    },
    eachAfter(kind, row, visit) {
      const { start, end } = kindRange(kind);
      file.each(
        'SELECT row, id, origin, vector FROM vector_row WHERE row > ? AND row >= ? AND row < ? ORDER BY row',
        [row, start, end],
        ([number, id, origin, blob]) => {
          const vector = asFloats(blob);
          return isZero(vector) || visit({ row: Number(number), id: String(id), origin: Number(origin), vector });
        },
      );
    },
    vectors(rows) {
      const found = inBatches(rows, (batch) =>
        file.all(`SELECT row, vector FROM vector_row WHERE row IN (${batch.map(() => '?').join(', ')})`, batch),
      );
      return new Map(found.map(([row, vector]) => [Number(row), asFloats(vector)]));
    },
    provenance(origin) {
      const found = readOrigin(file, origin);
      return found === null ? null : { item: found.item, generation: found.generation };
    },
    accepted: (filter) => originFilter(file, filter),
  };
}

/** SQLite gives each blob a buffer of its own, so it is aligned. */
const asFloats = (blob: unknown): Float32Array => fromBlob(blob as Uint8Array);

/** Stored, but never found. Unit vectors show it in their first numbers. */
function isZero(vector: Float32Array): boolean {
  for (let index = 0; index < vector.length; index++) if (vector[index] !== 0) return false;
  return true;
}

import { engramError } from '../../../kernel/errors.ts';
import type { IndexKind } from '../../ports/index-entry.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import type { VectorSpace } from '../../ports/vector-index.ts';
import { MAX_DIMENSIONS } from '../wasm-vectors/vector-arena.ts';
import { assertSameSpace, normaliseInto } from '../wasm-vectors/vector-space.ts';
import type { VectorBatch } from './batches.ts';
import { type OpenFile, writing } from './open-files.ts';
import { allOrigins, originsOf, removeUnusedOrigins, resolveOrigins } from './origins.ts';
import { kindRange } from './schema.ts';
import { toBlob } from './vector-blob.ts';
import { readSpace } from './vector-reader.ts';

/** Row numbers that are no longer there, for the thread that holds vectors in memory. */
type RemovedRows = readonly number[];

export function upsertVectors(file: OpenFile, batch: VectorBatch): RemovedRows {
  const { space, components } = batch;
  return writing(file, () => {
    settleSpace(file, space);
    const origins = resolveOrigins(file, 'vector_row', batch.origins);
    const sequences = new Map<IndexKind, number>();
    const removed: number[] = [];
    const unit = new Float32Array(space.dimensions);
    for (let index = 0; index < batch.ids.length; index++) {
      const kind = batch.kinds[index] as IndexKind;
      const id = batch.ids[index] as string;
      const { origin, rivals } = origins[batch.originOf[index] as number] as (typeof origins)[number];
      const { code, start } = kindRange(kind);
      for (const rival of rivals) removed.push(...removeVector(file, [code, id, rival]));
      normaliseInto(components.subarray(index * space.dimensions, (index + 1) * space.dimensions), unit, id);
      const sequence = sequences.get(kind) ?? nextSequence(file, code);
      sequences.set(kind, sequence + 1);
      file.run('INSERT INTO vector_row (row, kind, origin, id, vector) VALUES (?, ?, ?, ?, ?)', [
        start + sequence,
        code,
        origin,
        id,
        toBlob(unit),
      ]);
    }
    for (const [kind, next] of sequences) {
      file.run('INSERT OR REPLACE INTO vector_sequence (kind, next) VALUES (?, ?)', [kindRange(kind).code, next]);
    }
    return removed;
  });
}

export function removeVectors(file: OpenFile, selection: RowSelection): RemovedRows {
  return writing(file, () => {
    const origins = originsOf(file, selection);
    const removed = origins.flatMap((origin) =>
      file.all('DELETE FROM vector_row WHERE origin = ? RETURNING row', [origin]).map(([row]) => Number(row)),
    );
    removeUnusedOrigins(file, origins);
    return removed;
  });
}

/** Takes the space away too. */
export function dropVectors(file: OpenFile): void {
  writing(file, () => {
    file.exec(`DELETE FROM vector_row; DELETE FROM meta WHERE key = 'vector_space'`);
    removeUnusedOrigins(file, allOrigins(file));
  });
}

function settleSpace(file: OpenFile, space: VectorSpace): void {
  const settled = readSpace(file);
  assertSameSpace(settled, space);
  if (settled !== null) return;
  if (space.dimensions > MAX_DIMENSIONS) {
    throw engramError(
      'DimensionOutOfRangeError',
      `Vectors of ${space.model} have ${space.dimensions} dimensions; at most ${MAX_DIMENSIONS} are possible.`,
    );
  }
  const { model, dimensions } = space;
  file.run(`INSERT INTO meta (key, value) VALUES ('vector_space', ?)`, [JSON.stringify({ model, dimensions })]);
}

function nextSequence(file: OpenFile, kind: number): number {
  return Number(file.get('SELECT next FROM vector_sequence WHERE kind = ?', [kind])?.[0] ?? 0);
}

function removeVector(file: OpenFile, key: readonly [number, string, number]): readonly number[] {
  return file
    .all('DELETE FROM vector_row WHERE kind = ? AND id = ? AND origin = ? RETURNING row', key)
    .map(([row]) => Number(row));
}

import type { IndexKind } from '../../ports/index-entry.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import type { TextBatch } from './batches.ts';
import { type OpenFile, writing } from './open-files.ts';
import { allOrigins, originsOf, removeUnusedOrigins, resolveOrigins } from './origins.ts';
import { createPostingChanges, type PostingChanges } from './posting-changes.ts';
import { kindOfRow, kindRange } from './schema.ts';

export function upsertText(file: OpenFile, batch: TextBatch): void {
  writing(file, () => {
    const changes = createPostingChanges(file);
    const origins = resolveOrigins(file, 'text_row', batch.origins);
    const sequences = new Map<IndexKind, number>();
    const insert = file.writer(
      'INSERT INTO text_row (row, kind, origin, id, ordinal, length, payload, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    for (let index = 0; index < batch.ids.length; index++) {
      const kind = batch.kinds[index] as IndexKind;
      const id = batch.ids[index] as string;
      const { origin, rivals } = origins[batch.originOf[index] as number] as (typeof origins)[number];
      for (const rival of rivals) removeRow(file, changes, kind, id, rival);
      const sequence = sequences.get(kind) ?? nextSequence(file, kind);
      sequences.set(kind, sequence + 1);
      const { code, start } = kindRange(kind);
      const tokens = batch.tokens[index] as string;
      const length = changes.add(kind, { sequence, origin, tokens });
      const payload = batch.payloads[index] as string;
      insert(start + sequence, code, origin, id, batch.ordinals[index] as number, length, payload, tokens);
    }
    changes.flush();
  });
}

/** Returns how many rows went. */
export function removeText(file: OpenFile, selection: RowSelection): number {
  return writing(file, () => {
    const changes = createPostingChanges(file);
    const origins = originsOf(file, selection);
    let removed = 0;
    for (const origin of origins) {
      const rows = file.all('SELECT row, tokens FROM text_row WHERE origin = ?', [origin]);
      for (const [row, tokens] of rows) takeOut(changes, Number(row), String(tokens));
      removed += file.run('DELETE FROM text_row WHERE origin = ?', [origin]).changes;
    }
    changes.flush();
    removeUnusedOrigins(file, origins);
    return removed;
  });
}

export function dropText(file: OpenFile): void {
  writing(file, () => {
    for (const table of ['text_row', 'text_posting', 'text_bucket', 'text_statistics'])
      file.exec(`DELETE FROM ${table}`);
    removeUnusedOrigins(file, allOrigins(file));
  });
}

function nextSequence(file: OpenFile, kind: IndexKind): number {
  const { start, end } = kindRange(kind);
  const last = file.get('SELECT max(row) FROM text_row WHERE row >= ? AND row < ?', [start, end])?.[0];
  return last === null || last === undefined ? 0 : Number(last) - start + 1;
}

function removeRow(file: OpenFile, changes: PostingChanges, kind: IndexKind, id: string, origin: number): void {
  const { code } = kindRange(kind);
  const found = file.get('SELECT row, tokens FROM text_row WHERE kind = ? AND id = ? AND origin = ?', [
    code,
    id,
    origin,
  ]);
  if (found === undefined) return;
  takeOut(changes, Number(found[0]), String(found[1]));
  file.run('DELETE FROM text_row WHERE row = ?', [Number(found[0])]);
}

function takeOut(changes: PostingChanges, row: number, tokens: string): void {
  const kind = kindOfRow(row);
  changes.remove(kind, { sequence: row - kindRange(kind).start, tokens });
}

import type { EntryFilter, IndexKind, Provenance } from '../../ports/index-entry.ts';
import type { TextQuery } from '../../ports/text-index.ts';
import { type OpenFile, reading } from './open-files.ts';
import { acceptedOrigins } from './origins.ts';
import { termKey } from './postings.ts';
import { rankRows } from './rank-rows.ts';
import { kindRange } from './schema.ts';

/** A row as it travels to the main thread; JSON is parsed there. */
export interface PackedTextRow {
  readonly id: string;
  readonly item: string;
  readonly generation: number;
  readonly ordinal: number;
  /** JSON. */
  readonly nodeSets: string;
  /** JSON. */
  readonly payload: string;
}

export interface PackedCandidates {
  readonly rows: readonly PackedTextRow[];
  readonly lengths: readonly number[];
  readonly frequencies: readonly (readonly number[])[];
  readonly rowCount: number;
  readonly tokenCount: number;
  readonly rowFrequencies: readonly number[];
}

const COLUMNS = 'text_row.id, item, generation, ordinal, node_sets, payload';

export function textCandidates(file: OpenFile, query: TextQuery): PackedCandidates {
  return reading(file, () => {
    const { code, start } = kindRange(query.kind);
    const statistics = file.get('SELECT rows, tokens FROM text_statistics WHERE kind = ?', [code]);
    const rowCount = Number(statistics?.[0] ?? 0);
    const tokenCount = Number(statistics?.[1] ?? 0);
    const ranked = rankRows(file, {
      kind: code,
      keys: query.terms.map(termKey),
      limit: query.limit,
      accepted: acceptedOrigins(file, query),
      rowCount,
      averageLength: rowCount === 0 ? 0 : tokenCount / rowCount,
    });
    const rows = ranked.sequences.map((sequence) =>
      packRow(
        file.get(`SELECT ${COLUMNS} FROM text_row JOIN origin USING (origin) WHERE row = ?`, [start + sequence]) ?? [],
      ),
    );
    const { lengths, frequencies, rowFrequencies } = ranked;
    return { rows, lengths, frequencies, rowFrequencies, rowCount, tokenCount };
  });
}

export function fetchText(file: OpenFile, kind: IndexKind, ids: readonly string[]): readonly PackedTextRow[] {
  return reading(file, () =>
    [...new Set(ids)].flatMap((id) =>
      file
        .all(
          `SELECT ${COLUMNS} FROM text_row JOIN origin USING (origin) WHERE kind = ? AND text_row.id = ?
           ORDER BY item, generation`,
          [kindRange(kind).code, id],
        )
        .map(packRow),
    ),
  );
}

export interface TextListQuery {
  readonly kind: IndexKind;
  readonly provenance?: Provenance;
  readonly after?: number;
  readonly limit: number;
}

/** A page ends between two ordinals, never among rows of one, so that paging by ordinal loses none. */
export function listText(file: OpenFile, query: TextListQuery): readonly PackedTextRow[] {
  const { kind, provenance, after = Number.MIN_SAFE_INTEGER, limit } = query;
  const where = `kind = ?1 AND ordinal > ?2 ${
    provenance ? 'AND text_row.origin IN (SELECT origin FROM origin WHERE item = ?4 AND generation = ?5)' : ''
  }`;
  const parameters = [
    kindRange(kind).code,
    after,
    limit - 1,
    ...(provenance ? [provenance.item, provenance.generation] : []),
  ];
  return file
    .all(
      `SELECT ${COLUMNS} FROM text_row JOIN origin USING (origin) WHERE ${where}
       AND ordinal <= ifnull((SELECT ordinal FROM text_row WHERE ${where} ORDER BY ordinal LIMIT 1 OFFSET ?3), 9e18)
       ORDER BY ordinal, text_row.id, item, generation`,
      parameters,
    )
    .map(packRow);
}

export function countText(file: OpenFile, filter: Partial<EntryFilter>): number {
  return countRows(file, 'text_row', filter);
}

export function countRows(file: OpenFile, table: 'text_row' | 'vector_row', filter: Partial<EntryFilter>): number {
  return reading(file, () => {
    const kind = filter.kind === undefined ? null : kindRange(filter.kind);
    const accepted = acceptedOrigins(file, filter);
    if (accepted === null) {
      const [from, to] = kind === null ? [0, Number.MAX_SAFE_INTEGER] : [kind.start, kind.end];
      return Number(file.get(`SELECT count(*) FROM ${table} WHERE row >= ? AND row < ?`, [from, to])?.[0] ?? 0);
    }
    const sql = `SELECT count(*) FROM ${table} WHERE origin = ?1 AND (?2 IS NULL OR kind = ?2)`;
    let count = 0;
    for (const origin of accepted) count += Number(file.get(sql, [origin, kind?.code ?? null])?.[0] ?? 0);
    return count;
  });
}

function packRow(row: readonly unknown[]): PackedTextRow {
  const [id, item, generation, ordinal, nodeSets, payload] = row as [string, string, number, number, string, string];
  return { id, item, generation, ordinal, nodeSets, payload };
}

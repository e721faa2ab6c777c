import { asId } from '../../../kernel/ids.ts';
import type { SqlRow } from '../../documents/sqlite/statement-cache.ts';
import type { EntryFilter, IndexKind } from '../../ports/index-entry.ts';
import type { CandidateQuery, TextListQuery, TextQuery } from '../../ports/text-index.ts';
import { createPlaces, inBatches } from './in-batches.ts';
import { type OpenFile, reading } from './open-files.ts';
import { acceptedOrigins, originFilter, readOrigin } from './origins.ts';
import { termKey } from './postings.ts';
import { measureRows, rankRows, readPostings } from './rank-rows.ts';
import { type FoundRow, KIND_SPAN, kindRange, type ReadRow, type StoredOrigin } from './schema.ts';

const KEY_COLUMNS = 'row, text_row.id, text_row.origin, ordinal';
const COLUMNS = `${KEY_COLUMNS}, payload`;
/** Spares SQLite the pages that hold the rest of a row. */
const BARE_COLUMNS = `${KEY_COLUMNS}, '{}'`;

/** Rows as they travel to the main thread: columns, since cloning many small objects costs more than the reading. */
export interface PackedTextRows {
  readonly ids: readonly string[];
  readonly origins: readonly StoredOrigin[];
  /** Index into `origins` of each row. */
  readonly originOf: readonly number[];
  readonly ordinals: readonly number[];
  /** JSON, parsed in the main thread when it is read. */
  readonly payloads: readonly string[];
  /** Null unless asked for. */
  readonly tokens: readonly string[] | null;
}

export function textCandidates(file: OpenFile, query: TextQuery) {
  return reading(file, () => {
    const { code, start } = kindRange(query.kind);
    const statistics = file.get('SELECT rows, tokens FROM text_statistics WHERE kind = ?', [code]);
    const rowCount = Number(statistics?.[0] ?? 0);
    const tokenCount = Number(statistics?.[1] ?? 0);
    const { sequences, ...ranked } = rankRows(file, {
      kind: code,
      keys: query.terms.map(termKey),
      limit: query.limit,
      accepted: originFilter(file, query),
      rowCount,
      averageLength: rowCount === 0 ? 0 : tokenCount / rowCount,
    });
    const columns = columnsFor(query);
    const rows = rememberedRows(file, `${code} ${columns}`, sequences, (missing) =>
      inBatches(missing, (batch) =>
        file.all(
          `SELECT ${columns} FROM text_row WHERE row IN (${batch.map(() => '?').join(', ')})`,
          batch.map((sequence) => start + sequence),
        ),
      ).map((row) => [Number(row[0]) - start, row]),
    );
    return { rows, ...ranked, rowCount, tokenCount };
  });
}

export interface FetchQuery {
  readonly kind: IndexKind;
  readonly ids: readonly string[];
  /** Default all. */
  readonly perId?: number | undefined;
}

export function fetchText(file: OpenFile, query: FetchQuery): readonly FoundRow[] {
  return reading(file, () => rowsOf(file, { ...query, columns: COLUMNS }));
}

/** Columns and objects of a row, beside its payload. */
const BYTES_PER_ROW = 300;

/** The rows of each id or sequence number, in order; those that were asked for lately are known still. */
function rememberedRows<Key extends number | string>(
  file: OpenFile,
  manner: string,
  wanted: readonly Key[],
  read: (missing: readonly Key[]) => readonly (readonly [Key, SqlRow])[],
): readonly FoundRow[] {
  const recent = file.recentRows(manner);
  const lists = wanted.map((key) => recent.get(key));
  const missing = wanted.filter((_, at) => lists[at] === undefined);
  if (missing.length === 0) return lists.flatMap((rows) => rows ?? []);
  const found = Map.groupBy(read(missing), ([key]) => key);
  return wanted.flatMap((key, at) => {
    const known = lists[at];
    if (known !== undefined) return known;
    const rows = (found.get(key) ?? []).map(([, row]) => foundRow(file, row));
    const bytes = rows.reduce((sum, { payload }) => sum + BYTES_PER_ROW + payload.length, BYTES_PER_ROW);
    recent.keep(key, rows, bytes);
    return rows;
  });
}

export function fetchCandidates(file: OpenFile, query: CandidateQuery) {
  const { kind, ids, terms } = query;
  return reading(file, () => {
    const { code } = kindRange(kind);
    const rows = rowsOf(file, { kind, ids, columns: columnsFor(query) });
    const sequences = rows.map(({ sequence }) => sequence);
    const postings = terms.map((term) => readPostings(file, code, termKey(term)));
    return { rows, ...measureRows(file, { kind: code, terms: postings, sequences }) };
  });
}

function columnsFor({ withPayload = true }: { readonly withPayload?: boolean }): string {
  return withPayload ? COLUMNS : BARE_COLUMNS;
}

interface Wanted extends FetchQuery {
  readonly columns: string;
}

function rowsOf(file: OpenFile, { kind, ids, perId, columns }: Wanted): readonly FoundRow[] {
  const { code } = kindRange(kind);
  const lastOnly =
    perId === undefined
      ? ''
      : `AND text_row.origin IN
         (SELECT origin FROM text_row AS other WHERE kind = ?1 AND other.id = wanted.id ORDER BY origin DESC LIMIT ?2)`;
  const first = perId === undefined ? 2 : 3;
  const read = (batch: readonly string[]) =>
    file.all(
      `WITH wanted (place, id) AS (VALUES ${batch.map((_, at) => `(?${first + 2 * at}, ?${first + 2 * at + 1})`).join(', ')})
         SELECT ${columns} FROM wanted CROSS JOIN text_row USING (id) JOIN origin USING (origin) WHERE kind = ?1 ${lastOnly}
         ORDER BY place, item, generation`,
      [code, ...(perId === undefined ? [] : [perId]), ...batch.flatMap((id, place) => [place, id])],
    );
  return rememberedRows(file, `${code} ${perId} ${columns}`, [...new Set(ids)], (missing) =>
    inBatches(missing, read).map((row) => [String(row[1]), row]),
  );
}

/** A page ends between two ordinals, never among rows of one, so that paging by ordinal loses none. */
export function listText(file: OpenFile, query: TextListQuery): readonly FoundRow[] {
  const { kind, provenance, after = Number.MIN_SAFE_INTEGER, limit, withTokens = false } = query;
  const where = `kind = ?1 AND ordinal > ?2 ${
    provenance ? 'AND text_row.origin IN (SELECT origin FROM origin WHERE item = ?4 AND generation = ?5)' : ''
  }`;
  const parameters = [
    kindRange(kind).code,
    after,
    limit - 1,
    ...(provenance ? [provenance.item, provenance.generation] : []),
  ];
  return reading(file, () => {
    const rows = file.all(
      `SELECT ${COLUMNS}${withTokens ? ', tokens' : ''} FROM text_row JOIN origin USING (origin) WHERE ${where}
       AND ordinal <= ifnull((SELECT ordinal FROM text_row WHERE ${where} ORDER BY ordinal LIMIT 1 OFFSET ?3), 9e18)
       ORDER BY ordinal, text_row.id, item, generation`,
      parameters,
    );
    return rows.map((row) => foundRow(file, row));
  });
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

function foundRow(file: OpenFile, [row, id, origin, ordinal, payload, tokens]: SqlRow): FoundRow {
  return {
    sequence: Number(row) % KIND_SPAN,
    id: String(id),
    origin: readOrigin(file, Number(origin)) ?? NO_ORIGIN,
    ordinal: Number(ordinal),
    payload: String(payload),
    ...(tokens === undefined ? {} : { tokens: String(tokens) }),
  };
}

const NO_ORIGIN: StoredOrigin = { item: asId(''), generation: 0, nodeSets: '[]' };

export function packRows(rows: readonly FoundRow[]): PackedTextRows {
  const origins = createPlaces<StoredOrigin>();
  return {
    originOf: rows.map(({ origin }) => origins.of(origin)),
    origins: origins.values(),
    ids: rows.map(({ id }) => id),
    ordinals: rows.map(({ ordinal }) => ordinal),
    payloads: rows.map(({ payload }) => payload),
    tokens: rows[0]?.tokens === undefined ? null : rows.map(({ tokens = '' }) => tokens),
  };
}

export function unpackRows({ ids, origins, originOf, ordinals, payloads, tokens }: PackedTextRows): readonly ReadRow[] {
  return ids.map((id, at) => ({
    id,
    origin: origins[originOf[at] as number] as StoredOrigin,
    ordinal: ordinals[at] as number,
    payload: payloads[at] as string,
    ...(tokens === null ? {} : { tokens: tokens[at] as string }),
  }));
}

import { scoreBm25 } from '../../../../services/common/ranking/bm25.ts';
import { asRead } from '../../../../services/common/storage/ports/index-entry.ts';
import type {
  CandidateQuery,
  TextCandidate,
  TextEntry,
  TextIndex,
  TextQuery,
  TextRow,
} from '../../../../services/common/storage/ports/text-index.ts';
import { compareText, copyJson, createScopedState, entryKey, passes, removeSelected } from './scoped-state.ts';

interface StoredRow {
  readonly row: TextRow;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

type Rows = Map<string, StoredRow & TextRow>;

/** Scores every row of the kind: exact, for tests and small data. */
export function createMemoryTextIndex(): TextIndex {
  const datasets = createScopedState<Rows>(() => new Map());
  return {
    async upsert(scope, entries) {
      const stored = entries.map((entry) => [entryKey(entry.kind, entry), storedRow(entry)] as const);
      if (stored.length === 0) return;
      const rows = datasets.obtain(scope);
      for (const [key, row] of stored) rows.set(key, row);
    },
    async candidates(scope, query, signal) {
      signal?.throwIfAborted();
      const ofKind = [...(datasets.existing(scope)?.values() ?? [])].filter((row) => row.kind === query.kind);
      const tokenCount = ofKind.reduce((total, row) => total + row.length, 0);
      const statistics = {
        rowCount: ofKind.length,
        averageLength: ofKind.length === 0 ? 0 : tokenCount / ofKind.length,
        rowFrequencies: query.terms.map((term) => ofKind.filter((row) => row.counts.has(term)).length),
      };
      const matching = ofKind
        .filter((row) => passes(asRead(scope, query), row))
        .map((row) => asCandidate(row, query))
        .filter(holdsATerm);
      const best = scoreBm25({ candidates: matching, statistics }).slice(0, query.limit);
      return { candidates: best.map(({ row }) => copyJson(row)), statistics };
    },
    async fetch(scope, kind, ids, { perId = Number.POSITIVE_INFINITY } = {}) {
      const rows = [...(datasets.existing(scope)?.values() ?? [])].filter(
        (row) => row.kind === kind && scope.withheld?.has(row.item) !== true,
      );
      return [...new Set(ids)].flatMap((id) => {
        const found = rows.filter((row) => row.id === id);
        return found.slice(Math.max(0, found.length - perId)).map(({ row }) => copyJson(row));
      });
    },
    async fetchCandidates(scope, query) {
      const { kind, ids } = query;
      const wanted = new Set(ids);
      const rows = [...(datasets.existing(scope)?.values() ?? [])];
      return rows
        .filter((row) => row.kind === kind && wanted.has(row.id))
        .map((row) => copyJson(asCandidate(row, query)));
    },
    async list(scope, { kind, provenance, after = -Infinity, limit, withTokens = false }) {
      const rows = [...(datasets.existing(scope)?.values() ?? [])]
        .filter((row) => row.kind === kind && row.ordinal > after)
        .filter((row) => !provenance || (row.item === provenance.item && row.generation === provenance.generation))
        .sort((a, b) => a.ordinal - b.ordinal || compareText(a.id, b.id) || compareText(a.item, b.item));
      const last = rows[Math.min(limit, rows.length) - 1]?.ordinal ?? after;
      const page = rows.filter((row) => row.ordinal <= last);
      return page.map(({ row, counts }) => copyJson(withTokens ? { ...row, tokens: tokensOf(counts) } : row));
    },
    async remove(scope, selection) {
      const rows = datasets.existing(scope);
      return rows ? removeSelected(rows, selection) : 0;
    },
    async drop(scope) {
      datasets.discard(scope);
    },
    async count(scope, filter) {
      return [...(datasets.existing(scope)?.values() ?? [])].filter((row) => passes(filter, row)).length;
    },
  };
}

function storedRow(entry: TextEntry): StoredRow & TextRow {
  const { kind, id, item, generation, ordinal, nodeSets, payload } = entry;
  const row = copyJson({ kind, id, item, generation, ordinal, nodeSets, payload });
  const counts = new Map<string, number>();
  const tokens = entry.tokens.split(' ').filter((token) => token !== '');
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return { ...row, row, counts, length: tokens.length };
}

function tokensOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].flatMap(([token, count]) => new Array<string>(count).fill(token)).join(' ');
}

function asCandidate(stored: StoredRow, { terms, withPayload = true }: CandidateQuery | TextQuery): TextCandidate {
  const payload = withPayload ? stored.row.payload : {};
  const frequencies = terms.map((term) => stored.counts.get(term) ?? 0);
  return { ...stored.row, payload, length: stored.length, frequencies };
}

function holdsATerm({ frequencies }: TextCandidate): boolean {
  return frequencies.some((count) => count > 0);
}
